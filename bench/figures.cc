// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/report.h"

namespace attn::bench {

Figures FiguresOf(const RowResult& result, const std::vector<Bandwidth>& bandwidth) {
  const double flops = static_cast<double>(result.row.flops());
  const int64_t bytes = result.row.bytes();
  Figures figures = {};
  figures.seconds = Summarize(result.seconds);
  figures.cpu_seconds = Quantile(result.cpu_seconds, 0.5);
  const double seconds = figures.cpu_seconds;
  figures.flop_rate = flops / seconds;
  figures.byte_rate = static_cast<double>(bytes) / seconds;
  if (!result.peak.empty()) {
    figures.peak = Quantile(result.peak, 0.5);
    figures.peak_fraction = Quantile(result.peak_fraction, 0.5);
  }
  if (const Bandwidth* measured = BandwidthFor(bandwidth, bytes)) {
    figures.bandwidth = measured->rate;
    figures.bandwidth_fraction = figures.byte_rate / measured->rate;
  }
  if (figures.peak && figures.bandwidth) {
    figures.roofline_seconds =
        std::max(flops / *figures.peak, static_cast<double>(bytes) / *figures.bandwidth);
    figures.roofline_ratio = seconds / *figures.roofline_seconds;
  }
  return figures;
}

}  // namespace attn::bench
