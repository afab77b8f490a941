// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_BENCH_RUN_H_
#define ATTN_BENCH_RUN_H_

#include <functional>
#include <span>

#include "attn/backend.h"
#include "bench/bench.h"
#include "bench/report.h"

namespace attn::bench {

// RunBench() on any list of backends (a test passes one with a wrong kernel), without printing and
// without the signal. The result points to the backends. `stop` is asked between samples.
Result<Run> MeasureAll(const BenchOptions& options, std::span<const Backend> backends,
                       const std::function<bool()>& stop,
                       std::span<const int64_t> read_sizes = kReadSizes);

// 0, or 1 when a row is void, or 130 when the run was interrupted.
int ExitCode(const Run& run);

}  // namespace attn::bench

#endif  // ATTN_BENCH_RUN_H_
