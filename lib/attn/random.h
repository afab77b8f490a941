// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_RANDOM_H_
#define ATTN_RANDOM_H_

#include <cstdint>
#include <span>

namespace attn {

// The stream of NumPy's `default_rng(seed)`, bit for bit, on every platform:
// SeedSequence (O'Neill's seed_seq_fe) -> PCG64 (XSL-RR 128/64) -> 53-bit
// uniforms and 256-layer ziggurat normals. The article's Step 2 table depends
// on these exact draws.
//
// One place is not defined to the bit by NumPy itself: the tail of the normal
// (|x| > 3.654, 0.026 % of the draws) returns a function of the C library's
// log1p. Here it is the one that NumPy gets from glibc on x86-64 without FMA;
// with FMA 5 in 10^4 of its values differ in the last bit, and no draw did in
// the 2 * 10^7 that were compared.
//
// Not thread-safe; copy it to fork a stream, copies continue identically.
class Generator {
 public:
  explicit Generator(uint64_t seed);

  // The next 64 raw bits.
  uint64_t Bits();

  // Uniform on [0, 1), a multiple of 2^-53: `Generator.random()`.
  double Random();

  // Mean 0, variance 1: `Generator.standard_normal()`.
  double StandardNormal();

  // Fills `out` in order, as `standard_normal(size)` would.
  void StandardNormal(std::span<double> out);

 private:
  double Tail(bool negative);

  unsigned __int128 state_;
  unsigned __int128 increment_;
};

// The tables of the ziggurat as the generator uses them, for tests.
// Layer i spans [0, x_i] with x_255 = 3.654...; `width[i]` is x_i / 2^52,
// `density[i]` exp(-x_i^2 / 2), and a 52-bit integer below `inside[i]` is in
// the part of the layer that lies under the curve for sure.
struct ZigguratTables {
  uint64_t inside[256];
  double width[256];
  double density[256];
};
const ZigguratTables& NormalZiggurat();

}  // namespace attn

#endif  // ATTN_RANDOM_H_
