// SPDX-License-Identifier: Apache-2.0
// tanh x, for the soft-cap of scores.
//
// Contract: odd, tanh(+-inf) = +-1, NaN stays NaN, relative error a few epsilon also near 0, where
// a cap that is never reached must leave a score as it is.
//
// tanh |x| = -m / (2 + m) with m = e^(-2|x|) - 1 = 2^n (e^r - 1) + (2^n - 1), n and r as in
// exp-inl.h. Nothing cancels: n = 0 leaves e^r - 1 = r + r^2 / 2! + ..., whose first coefficients
// must be exact, hence Taylor's: 7 terms leave 1.5e-8 of the sum for f32, 13 leave 1e-17 for f64.

template <class T, int kTerms>
struct InverseFactorials {
  T of[kTerms + 1];  // 1 / k!
  constexpr InverseFactorials() : of() {
    double factorial = 1;
    of[0] = 1;
    for (int k = 1; k <= kTerms; ++k) of[k] = static_cast<T>(1 / (factorial *= k));
  }
};

template <class V>
ATTN_INLINE V Tanh(V x) {
  using T = typename V::T;
  using C = ExpConstants<T>;
  constexpr int kTerms = sizeof(T) == 4 ? 7 : 13;
  constexpr InverseFactorials<T, kTerms> kInverse;
  const V zero = V::Set(T(0)), one = V::Set(T(1));
  const V minus_two_abs = (zero - Max(x, zero - x)) * V::Set(T(2));
  const V shifted = MulAdd(minus_two_abs, V::Set(T(1.44269504088896340736)), V::Set(C::kShifter));
  const V n = shifted - V::Set(C::kShifter);
  const V r = MulAdd(n, V::Set(T(-0.693147180559945309417)), minus_two_abs);
  V series = V::Set(kInverse.of[kTerms]);
  ATTN_UNROLL
  for (int k = kTerms - 1; k >= 1; --k) series = MulAdd(series, r, V::Set(kInverse.of[k]));
  const V power = MantissaToExponent(shifted);  // 2^n
  V m = MulAdd(series * r, power, power - one);
  m = Select(Less(minus_two_abs, V::Set(C::kCutOff)), zero - one, m);
  const V tanh = (zero - m) / (m + V::Set(T(2)));
  return Select(Less(x, zero), zero - tanh, tanh);
}
