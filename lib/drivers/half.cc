// SPDX-License-Identifier: Apache-2.0
#include "attn/half.h"

#include "math/half.h"

namespace attn {
namespace {

float FloatOf(BFloat16 x) { return FloatOfBF16(x.bits); }
float FloatOf(Float16 x) { return FloatOfF16(x.bits); }

template <class Half>
Half OfFloat(float x);
template <>
BFloat16 OfFloat(float x) {
  return {BF16OfFloat(x)};
}
template <>
Float16 OfFloat(float x) {
  return {F16OfFloat(x)};
}

// To f32 by rounding to odd: the last bit says that something was cut off, so that the next
// rounding, to fewer bits, is as from x itself.
float RoundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  const double got = static_cast<double>(nearest);
  if (got == x || x != x) return nearest;
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if ((got < 0 ? -got : got) > (x < 0 ? -x : x)) --bits;
  return __builtin_bit_cast(float, bits | 1);
}

}  // namespace

float ToFloat(BFloat16 x) { return FloatOf(x); }
float ToFloat(Float16 x) { return FloatOf(x); }

template <>
BFloat16 RoundTo(double x) {
  return OfFloat<BFloat16>(RoundToOdd(x));
}
template <>
Float16 RoundTo(double x) {
  return OfFloat<Float16>(RoundToOdd(x));
}

template <class Half>
void Widen(std::span<const Half> from, std::span<float> to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = FloatOf(from[i]);
}

template <class Half>
void Narrow(std::span<const float> from, std::span<Half> to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = OfFloat<Half>(from[i]);
}

template void Widen(std::span<const BFloat16>, std::span<float>);
template void Widen(std::span<const Float16>, std::span<float>);
template void Narrow(std::span<const float>, std::span<BFloat16>);
template void Narrow(std::span<const float>, std::span<Float16>);

}  // namespace attn
