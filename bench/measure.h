// SPDX-License-Identifier: Apache-2.0
// Times rows in turns, each beside its peak, and checks what they computed.
#ifndef ATTN_BENCH_MEASURE_H_
#define ATTN_BENCH_MEASURE_H_

#include <functional>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "bench/check.h"
#include "bench/peak_sampler.h"
#include "bench/plan.h"

namespace attn::bench {

struct RowResult {
  Row row;
  std::vector<double> seconds;        // of one call, a sample each
  std::vector<double> cpu_seconds;    // the same in CPU time
  std::vector<double> peak;           // FLOP/s, mean of just before and just after each sample
  std::vector<double> peak_fraction;  // FLOP/s in CPU time over that; both empty without a peak
  int64_t calls = 0;                  // timed
  int64_t scratch_bytes = 0;          // memory beside the five tensors
  Errors errors;
  std::string failure;  // not empty: the timing is void, and this says why
};

// One sampler an instruction set and dtype, shared by all rows of a run.
class Samplers {
 public:
  // Null where there is no peak for it.
  PeakSampler* For(const Isa* isa, DType dtype, double warm_up);
  const std::list<PeakSampler>& all() const { return samplers_; }

 private:
  std::list<PeakSampler> samplers_;  // a list, so that pointers stay
};

struct MeasureHooks {
  std::function<bool()> stop;                                 // asked between samples
  std::function<void(const Row& row, double left)> progress;  // seconds left in this problem
};

// Measures the rows of one problem (Row::SameProblem) for at least `options.seconds` of timed calls
// each, in rounds: a round takes a few samples of every row, beginning with another row each time,
// so that drift of the machine's clock falls on all alike. Stopped early, rows keep the samples
// they have; a row without any is left out. An error when there is no memory for the tensors.
Result<std::vector<RowResult>> MeasureProblem(std::span<const Row> rows,
                                              const BenchOptions& options, Samplers& samplers,
                                              const MeasureHooks& hooks);

}  // namespace attn::bench

#endif  // ATTN_BENCH_MEASURE_H_
