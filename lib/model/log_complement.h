// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_LIB_MODEL_LOG_COMPLEMENT_H_
#define ATTN_LIB_MODEL_LOG_COMPLEMENT_H_

// ln(1 - u) for u in [0, 1), with the rounding errors of the log1p that NumPy
// calls on Linux: the tail of the normal returns a function of it, so its last
// bit shows in the stream. Equal to glibc 2.36 without FMA in 6 * 10^7 values,
// ties and borders included; where glibc contracts the same sums into fused
// multiply-adds, 5 in 10^4 of its values are 1 ulp away, and about one in eight
// of those survives adding 3.654. A correctly rounded logarithm was tried: it
// differs from NumPy in 1 % of the tail, 26 draws in 10^7.
//
// Correct only without contraction: lib/CMakeLists.txt says -ffp-contract=off.
//
// Method and coefficients: Sun's fdlibm 5.3, s_log1p.c, 1993: with
// 1 - u = 2^k (1 + f), sqrt(1/2) < 1 + f < sqrt(2), and s = f / (2 + f),
// ln(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)). glibc's order of the sum R.

#include <bit>
#include <cstdint>

namespace attn::model {

inline double LogOfComplement(double u) {
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr uint64_t kOne = 0x3ff0000000000000, kFraction = 0x000fffffffffffff;
  if (u < 0x1p-54) return -u;
  if (u < 0x1p-29) return -u - u * u * 0.5;

  double f = -u, k = 0, rounding = 0;
  bool tiny = false;        // |f| < 2^-20
  if (u >= 0x1.2bec4p-2) {  // 1 - sqrt(1/2), to 20 bits: scale
    const double rest = 1 - u;
    rounding = (-u - (rest - 1)) / rest;  // what forming `rest` lost
    uint64_t bits = std::bit_cast<uint64_t>(rest);
    k = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
    bits &= kFraction;
    const uint64_t head = bits >> 32;
    const bool upper = head >= 0x6a09e;  // above sqrt(2): halve
    tiny = upper ? head > 0xffffc : head == 0;
    k += upper;
    f = std::bit_cast<double>(bits | (upper ? kOne - (uint64_t{1} << 52) : kOne)) - 1;
  }
  const double low = k * kLn2Low + rounding;
  const double half_square = 0.5 * f * f;
  if (tiny) {
    if (f == 0) return k * kLn2High + (rounding + k * kLn2Low);
    const double cubic = half_square * (1 - 0x1.5555555555555p-1 * f);
    return k * kLn2High - ((cubic - low) - f);
  }
  const double s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2;
  const double r1 = z * 6.666666666666735130e-01;
  const double r2 = 3.999999999940941908e-01 + z * 2.857142874366239149e-01;
  const double r3 = 2.222219843214978396e-01 + z * 1.818357216161805012e-01;
  const double r4 = 1.531383769920937332e-01 + z * 1.479819860511658591e-01;
  const double r = r1 + z2 * r2 + z4 * r3 + z6 * r4;
  if (k == 0) return f - (half_square - s * (half_square + r));
  return k * kLn2High - ((half_square - (s * (half_square + r) + low)) - f);
}

}  // namespace attn::model

#endif  // ATTN_LIB_MODEL_LOG_COMPLEMENT_H_
