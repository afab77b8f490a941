// SPDX-License-Identifier: Apache-2.0
// What a run prints: one table for people, or JSON in Google Benchmark's layout.
#ifndef ATTN_BENCH_REPORT_H_
#define ATTN_BENCH_REPORT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/environment.h"
#include "bench/measure.h"
#include "bench/peak_sampler.h"
#include "bench/plan.h"
#include "bench/statistics.h"

namespace attn::bench {

struct Run {
  BenchOptions options;
  Environment environment;
  Samplers samplers;
  std::vector<Bandwidth> bandwidth;
  std::vector<RowResult> results;
  std::vector<SkippedRow> skipped;
  bool large_pages = false;  // the tensors lie on some
  bool interrupted = false;
};

// What a row's samples come to. A figure is absent when it has nothing to be compared with.
struct Figures {
  Summary seconds;
  double cpu_seconds;           // median
  double flop_rate, byte_rate;  // at the median CPU time, as all below
  std::optional<double> peak, peak_fraction;
  std::optional<double> bandwidth, bandwidth_fraction;
  std::optional<double> roofline_seconds;  // max(FLOP / peak, bytes / bandwidth)
  std::optional<double> roofline_ratio;    // CPU time over that
};
Figures FiguresOf(const RowResult& result, const std::vector<Bandwidth>& bandwidth);

inline constexpr const char* kFlopRule =
    "2*D per visible pair for QK and 2*Dv for PV; backward 6*D + 4*Dv; exponentials and hidden "
    "pairs are not counted; rms_norm 4 and rotary 3 a channel; matmul 2*M*N*K";
inline constexpr const char* kByteRule =
    "Q, visible K and V, O and LSE, backward their gradients too, each moved once, whatever the "
    "algorithm moves; rms_norm and rotary: X, Y, weight or tables; matmul: A, B, C";

std::string TableText(const Run& run);
nlohmann::ordered_json Json(const Run& run);

}  // namespace attn::bench

#endif  // ATTN_BENCH_REPORT_H_
