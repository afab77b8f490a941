// SPDX-License-Identifier: Apache-2.0
// ln x, for the sums of exponentials that attention takes it of.
//
// Contract: Log(0) is -inf, NaN stays NaN, x is otherwise a normal number; within 1.5 ulp of the
// larger of ln x and ln 2 (seen: 1.27 for f32, 1.45 for f64, 1 <= x < 2^24).
//
// x = 2^e m with sqrt(1/2) < m <= sqrt(2), and ln m = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...)
// with s = (m - 1) / (m + 1), |s| <= 0.172: the first term left out is 3e-9 of the sum for f32 (4
// terms) and 2e-17 for f64 (10). Rational coefficients, because nothing is won by better ones here:
// one logarithm a query. (libm's scalar function took 1 % of a causal panel's time.)

template <class V>
ATTN_INLINE V Log(V x) {
  using T = typename V::T;
  constexpr int kTerms = sizeof(T) == 4 ? 4 : 10;
  const V exponent = Exponent(x);
  const V m = x * MantissaToExponent(V::Set(ExpConstants<T>::kShifter) - exponent);  // 1 <= m < 2
  const auto upper = Less(V::Set(T(1.41421356237309504880)), m);
  const V e = Select(upper, exponent + V::Set(T(1)), exponent);
  const V centred = Select(upper, m * V::Set(T(0.5)), m);
  const V s = (centred - V::Set(T(1))) / (centred + V::Set(T(1)));
  const V square = s * s;
  V series = V::Set(T(2) / T(2 * kTerms + 1));
  ATTN_UNROLL
  for (int i = kTerms - 1; i >= 1; --i) {
    series = MulAdd(series, square, V::Set(T(2) / T(2 * i + 1)));
  }
  const V log_m = MulAdd(series * square, s, s + s);
  const V log = MulAdd(e, V::Set(T(0.693147180559945309417)), log_m);
  return Select(Equal(x, V::Set(T(0))), V::Set(-std::numeric_limits<T>::infinity()), log);
}
