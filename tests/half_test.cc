// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits, bit by bit.
#include "attn/half.h"

#include <cmath>
#include <random>

#include "testing.h"

namespace attn {
namespace {

TEST_CASE_TEMPLATE("half: every number of 16 bits survives the way through f32", S, BFloat16,
                   Float16) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const S x = {static_cast<uint16_t>(bits)};
    const float wide = ToFloat(x);
    const S back = RoundTo<S>(static_cast<double>(wide));
    if (std::isnan(wide)) {
      CHECK(std::isnan(ToFloat(back)));
      CHECK(std::signbit(ToFloat(back)) == std::signbit(wide));
    } else {
      CHECK(back.bits == x.bits);
    }
  }
}

TEST_CASE("half: known numbers") {
  CHECK(ToFloat(BFloat16{0x3f80}) == 1);
  CHECK(ToFloat(BFloat16{0xc049}) == -3.140625f);
  CHECK(ToFloat(BFloat16{0x0001}) == 0x1p-133f);
  CHECK(ToFloat(Float16{0x3c00}) == 1);
  CHECK(ToFloat(Float16{0x7bff}) == 65504);
  CHECK(ToFloat(Float16{0x0001}) == 0x1p-24f);
  CHECK(ToFloat(Float16{0xfc00}) == -INFINITY);
  // Ties go to the even one; a double just beside a tie does not.
  CHECK(RoundTo<BFloat16>(1 + 0x1p-8).bits == 0x3f80);
  CHECK(RoundTo<BFloat16>(1 + 3 * 0x1p-8).bits == 0x3f82);
  CHECK(RoundTo<BFloat16>(1 + 0x1p-8 + 0x1p-40).bits == 0x3f81);
  CHECK(RoundTo<Float16>(1 + 0x1p-11).bits == 0x3c00);
  CHECK(RoundTo<Float16>(1 + 0x1p-11 + 0x1p-50).bits == 0x3c01);
  CHECK(RoundTo<Float16>(0x1p-25).bits == 0);
  CHECK(RoundTo<Float16>(0x1.8p-25).bits == 1);
  CHECK(RoundTo<Float16>(0x1p-14 - 0x1p-26).bits == 0x0400);
  CHECK(RoundTo<Float16>(65519.99).bits == 0x7bff);
  CHECK(RoundTo<Float16>(65520).bits == 0x7c00);
  CHECK(RoundTo<Float16>(-1e300).bits == 0xfc00);
  CHECK(RoundTo<BFloat16>(3.4e38).bits == 0x7f80);
  CHECK(RoundTo<BFloat16>(-0.0).bits == 0x8000);
}

// The next of 16 bits on either side, by a search that knows nothing of rounding.
TEST_CASE_TEMPLATE("half: rounds to the nearest", S, BFloat16, Float16) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-28, 16.5), mantissa(1, 2);
  for (int trial = 0; trial < 20000; ++trial) {
    const double x = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
    const S got = RoundTo<S>(x);
    const double error = std::fabs(static_cast<double>(ToFloat(got)) - x);
    for (const int step : {-1, 1}) {
      const uint16_t beside = static_cast<uint16_t>(got.bits + step);
      if (beside > 0x7fff) continue;
      const double other = static_cast<double>(ToFloat(S{beside}));
      if (!std::isfinite(other) || std::isinf(ToFloat(got))) continue;
      CAPTURE(x);
      CHECK(error <= std::fabs(other - x));
    }
  }
}

}  // namespace
}  // namespace attn
