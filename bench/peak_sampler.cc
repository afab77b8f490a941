// SPDX-License-Identifier: Apache-2.0
#include "bench/peak_sampler.h"

#include <algorithm>
#include <cstring>

#include "bench/environment.h"
#include "bench/pages.h"
#include "bench/statistics.h"
#include "bench/timer.h"

namespace attn::bench {
namespace {

constexpr double kPeakSample = 1e-3;
// Small buffers are read several times a pass, which then lasts 20 us or more.
constexpr int64_t kBytesPerPass = int64_t{8} << 20;

// The results of the loops go here, so that none is removed.
volatile double sink;

template <class T>
double TimeChains(MultiplyAddLoop<T> loop, int64_t rounds) {
  // x -> x / 2 + 1 / 2 stays near 1: no subnormal, no overflow. The compiler sees neither number.
  T start[kChains];
  for (int i = 0; i < kChains; ++i) start[i] = static_cast<T>(1 + 0.001 * i);
  const double begin = CpuSeconds();
  sink = static_cast<double>(loop(rounds, start, static_cast<T>(0.5), static_cast<T>(0.5)));
  return CpuSeconds() - begin;
}

}  // namespace

PeakSampler::PeakSampler(const Isa& isa, DType dtype, double warm_up) : isa_(&isa), dtype_(dtype) {
  double best = 0;
  for (const PeakLoop& loop : isa.loops) {
    if (dtype == DType::kF64 && loop.f64 == nullptr) continue;
    // At least one sample long: AVX-512 units and clocks need some microseconds.
    int64_t rounds = 256;
    double seconds = Run(loop, rounds);
    for (const double end = Now() + warm_up; seconds < kPeakSample || Now() < end;) {
      if (seconds < kPeakSample) rounds *= 2;
      seconds = Run(loop, rounds);
    }
    for (int i = 0; i < 5; ++i) seconds = std::min(seconds, Run(loop, rounds));
    const double rate = static_cast<double>(rounds) / seconds;
    if (rate <= best) continue;
    best = rate;
    loop_ = &loop;
    rounds_ = std::max<int64_t>(1, static_cast<int64_t>(rate * kPeakSample));
  }
}

double PeakSampler::Run(const PeakLoop& loop, int64_t rounds) const {
  return dtype_ == DType::kF32 ? TimeChains(loop.f32, rounds) : TimeChains(loop.f64, rounds);
}

double PeakSampler::Sample() {
  const double seconds = Run(*loop_, rounds_);
  const int64_t lanes = isa_->vector_bytes / (dtype_ == DType::kF32 ? 4 : 8);
  const double flops = 2.0 * kChains * kStepsPerRound * static_cast<double>(lanes * rounds_);
  samples_.push_back(flops / seconds);
  return samples_.back();
}

std::vector<Bandwidth> MeasureBandwidth(const Isa& isa, std::span<const int64_t> sizes,
                                        double seconds, double warm_up, bool large_pages) {
  std::vector<Bandwidth> measured;
  for (const int64_t bytes : sizes) {
    const Pages buffer(bytes, large_pages);  // aligned; a misaligned loop once made a kernel look
    if (!buffer.ok()) break;                 // like 95 % of the bandwidth
    std::memset(buffer.data(), 1, static_cast<size_t>(bytes));  // pages exist, and are not all one
    const int64_t repeats = std::max<int64_t>(1, kBytesPerPass / bytes);
    std::vector<double> rates;
    uint32_t sum = isa.read(buffer.data(), bytes);
    if (measured.empty()) {
      for (const double end = Now() + warm_up; Now() < end;) sum += isa.read(buffer.data(), bytes);
    }
    const double end = Now() + seconds;
    while (rates.size() < 3 || Now() < end) {
      const double begin = CpuSeconds();
      for (int64_t i = 0; i < repeats; ++i) sum += isa.read(buffer.data(), bytes);
      rates.push_back(static_cast<double>(bytes * repeats) / (CpuSeconds() - begin));
    }
    sink = sum;
    measured.push_back({bytes, Quantile(rates, 0.5), static_cast<int64_t>(rates.size())});
  }
  return measured;
}

const Bandwidth* BandwidthFor(const std::vector<Bandwidth>& measured, int64_t working_set) {
  for (const Bandwidth& b : measured) {
    if (b.bytes >= working_set) return &b;
  }
  return measured.empty() ? nullptr : &measured.back();
}

}  // namespace attn::bench
