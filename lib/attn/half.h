// SPDX-License-Identifier: Apache-2.0
// Elements of 16 bits. They are storage: everything is computed in f32, and what is small beside
// the tensors (LSE, sinks, additive masks) stays f32.
#ifndef ATTN_HALF_H_
#define ATTN_HALF_H_

#include <cstdint>
#include <span>

namespace attn {

// f32's first 16 bits: 8 of exponent, 7 of mantissa (Google Brain; relative rounding error 2^-9).
struct BFloat16 {
  uint16_t bits;
};

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa (2^-12; largest 65504).
struct Float16 {
  uint16_t bits;
};

float ToFloat(BFloat16 x);
float ToFloat(Float16 x);

// To nearest, ties to even, from the double itself. What is too large becomes infinite, NaN stays.
// T is any of the four types.
template <class T>
T RoundTo(double x);
template <>
inline float RoundTo(double x) {
  return static_cast<float>(x);
}
template <>
inline double RoundTo(double x) {
  return x;
}
template <>
BFloat16 RoundTo(double x);
template <>
Float16 RoundTo(double x);

// Row by row; `to` has as many elements.
template <class Half>
void Widen(std::span<const Half> from, std::span<float> to);
template <class Half>
void Narrow(std::span<const float> from, std::span<Half> to);

// What is computed in for elements of type T.
template <class T>
struct ComputeOf {
  using Type = T;
};
template <>
struct ComputeOf<BFloat16> {
  using Type = float;
};
template <>
struct ComputeOf<Float16> {
  using Type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::Type;

template <class T>
inline constexpr bool kIsHalf = sizeof(T) == 2;

// Any element, exactly.
template <class T>
double ToDouble(T x) {
  if constexpr (kIsHalf<T>) {
    return static_cast<double>(ToFloat(x));
  } else {
    return static_cast<double>(x);
  }
}

}  // namespace attn

#endif  // ATTN_HALF_H_
