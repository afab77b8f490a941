// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits to and from f32, by their bits. `static inline`, so that each unit compiles a
// copy for its own instruction set; without branches, so that loops over them become vectors.
#ifndef ATTN_MATH_HALF_H_
#define ATTN_MATH_HALF_H_

#include <cstdint>

#include "math/visibility.h"

namespace attn {

// What a tensor's elements are where a kernel computes in wider ones.
enum class Storage : int32_t { kSame, kBF16, kF16 };

ATTN_MATH float FloatOfBF16(uint16_t x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16);
}

// To nearest, ties to even; NaN stays NaN (the rounding could carry it into infinity).
ATTN_MATH uint16_t BF16OfFloat(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

// The exponent's bias grows from 15 to 127 by a multiplication, which is exact also for numbers
// below the normal ones of f16.
ATTN_MATH float FloatOfF16(uint16_t x) {
  const uint32_t magnitude = static_cast<uint32_t>(x & 0x7fff) << 13;
  const float finite = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  const uint32_t wide = x & 0x7fff;
  const uint32_t bits =
      wide >= 0x7c00 ? magnitude | 0x7f800000 : __builtin_bit_cast(uint32_t, finite);
  return __builtin_bit_cast(float, bits | static_cast<uint32_t>(x & 0x8000) << 16);
}

// To nearest, ties to even; from 65520 on infinity; NaN stays NaN. Below 2^-14 the result's last
// bit stands for 2^-24: adding 0.5, whose last bit does so too, rounds there.
ATTN_MATH uint16_t F16OfFloat(float x) {
  const uint32_t all = __builtin_bit_cast(uint32_t, x);
  const uint32_t bits = all & 0x7fffffff;
  const uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  const float sum = __builtin_bit_cast(float, bits) + 0.5f;
  const uint32_t small = __builtin_bit_cast(uint32_t, sum) - 0x3f000000;
  uint32_t half = bits < 0x38800000 ? small : normal;
  half = bits >= 0x477ff000 ? 0x7c00 : half;
  half = bits > 0x7f800000 ? 0x7e00 : half;
  return static_cast<uint16_t>(half | (all >> 16 & 0x8000));
}

}  // namespace attn

#endif  // ATTN_MATH_HALF_H_
