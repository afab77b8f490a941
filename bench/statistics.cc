// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::bench {

double Quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(samples.begin(), samples.end());
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples.size() - 1);
  const size_t below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], rank - static_cast<double>(below));
}

Summary Summarize(const std::vector<double>& samples) {
  return {Quantile(samples, 0.5), Quantile(samples, 0.2), Quantile(samples, 0.8),
          static_cast<int64_t>(samples.size())};
}

}  // namespace attn::bench
