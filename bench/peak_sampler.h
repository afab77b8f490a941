// SPDX-License-Identifier: Apache-2.0
// Rates of the loops in peak.h. The machine is shared and its clock moves, so a rate is only ever
// compared with one that was measured a moment before or after.
#ifndef ATTN_BENCH_PEAK_SAMPLER_H_
#define ATTN_BENCH_PEAK_SAMPLER_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attn/backend.h"
#include "bench/peak.h"

namespace attn::bench {

// FLOP/s of multiply-adds in registers at one instruction set; 2 for each multiply-add, fused or
// not. In CPU time: a millisecond in which another program ran says nothing about the machine.
// Where there are two loops (WebAssembly: fused and mul + add), the faster, found at the start.
class PeakSampler {
 public:
  PeakSampler(const Isa& isa, DType dtype, double warm_up = 0);

  // False where the instruction set has no vectors of this dtype.
  bool ok() const { return loop_ != nullptr; }
  // Takes about a millisecond.
  double Sample();

  const Isa& isa() const { return *isa_; }
  DType dtype() const { return dtype_; }
  std::string_view loop_name() const { return loop_->name; }
  // All samples so far.
  const std::vector<double>& samples() const { return samples_; }

 private:
  double Run(const PeakLoop& loop, int64_t rounds) const;

  const Isa* isa_;
  DType dtype_;
  const PeakLoop* loop_ = nullptr;
  int64_t rounds_ = 0;
  std::vector<double> samples_;
};

// Bytes/s, in CPU time, of reading a buffer of this size again and again, at the widest instruction
// set.
struct Bandwidth {
  int64_t bytes;
  double rate;  // median of the passes
  int64_t passes;
};

// L1, L2, a slice of the last level, and beyond most of them. The build machine's last level is
// 480 MB and shared with other guests: the largest size exceeds it, yet what part of it is ours at
// any time is not ours to know, so that figure is "far memory on this machine today".
inline constexpr int64_t kReadSizes[] = {
    int64_t{32} << 10,  int64_t{1} << 20, int64_t{16} << 20, int64_t{128} << 20,
#if !defined(__EMSCRIPTEN__)  // a module has 4 GiB in all, and grows slowly
    int64_t{512} << 20,
#endif
};

// One each of `sizes`, which ascend, about `seconds` long; stops at the first for which there is no
// memory.
std::vector<Bandwidth> MeasureBandwidth(const Isa& isa, std::span<const int64_t> sizes,
                                        double seconds, double warm_up = 0,
                                        bool large_pages = true);

// The rate at which a working set of this size is read: of the smallest buffer that is not smaller,
// or the largest there is. Null without any.
const Bandwidth* BandwidthFor(const std::vector<Bandwidth>& measured, int64_t working_set);

}  // namespace attn::bench

#endif  // ATTN_BENCH_PEAK_SAMPLER_H_
