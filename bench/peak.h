// SPDX-License-Identifier: Apache-2.0
// What the machine can do at all, one instruction set at a time: multiply-adds in registers and
// reads of memory. The loops only; peak_sampler.h turns them into rates.
#ifndef ATTN_BENCH_PEAK_H_
#define ATTN_BENCH_PEAK_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace attn::bench {

// Independent sums. The two FMA units of current x86 and ARM cores have a latency of 4 cycles, so
// 8 chains fill them; mul + add without fusing has twice the latency. 12, not more: with the two
// constants that is 14 vectors, and below AVX-512 there are 16 registers (V8 keeps one for itself).
inline constexpr int kChains = 12;
// Multiply-adds of each chain in one round, against the cost of the loop itself.
inline constexpr int kStepsPerRound = 4;

// Runs `rounds` rounds of kChains * kStepsPerRound vector multiply-adds and returns a number that
// depends on all of them. `start` has a value a chain.
template <class T>
using MultiplyAddLoop = T (*)(int64_t rounds, const T* start, T multiplier, T addend);

struct PeakLoop {
  std::string_view name;  // "fused" or "mul + add"
  MultiplyAddLoop<float> f32;
  MultiplyAddLoop<double> f64;  // null where the instruction set has no vectors of double
};

struct Isa {
  std::string_view name;  // Highway's name: "AVX3", "AVX2", "SSE2", "NEON", "WASM"
  std::string_view text;  // for people: "AVX-512"
  int64_t highway_bit;
  int64_t vector_bytes;
  std::span<const PeakLoop> loops;  // fused first, where there is fusing
  // Reads `bytes` (a multiple of kReadGranule) from a 64-byte aligned address.
  uint32_t (*read)(const void* data, int64_t bytes);
};
inline constexpr int64_t kReadGranule = 1024;

// Those that this machine can run, the widest first.
std::span<const Isa> Isas();

// The instruction set for which a backend was compiled, from its name: "xsimd:avx512bw" -> AVX3,
// "highway:SSE4" -> SSE2 (same width, no FMA), "reference" and "portable" -> the narrowest, which
// is what the compiler may use in them. Null for a name that says nothing.
const Isa* IsaOf(std::string_view backend);

}  // namespace attn::bench

#endif  // ATTN_BENCH_PEAK_H_
