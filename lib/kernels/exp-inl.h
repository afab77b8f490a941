// SPDX-License-Identifier: Apache-2.0
// e^x for x <= 0, the only exponential that attention takes.
//
// Contract: Exp(0) is exactly 1, Exp(-inf) is 0, NaN stays NaN, x below the cut-off gives 0.
// Neither library's own exp keeps it: Highway 1.2 turns NaN into 0, xsimd 13.2 flushes later.
//
// x = n ln 2 + r with |r| <= ln(2)/2, e^r = 1 + r (c1 + r (c2 + ...)), the c by Remez exchange
// (tools/exp_coefficients.py 5 and 11; relative error of e^r 1.5e-7 and 6e-18: f32 pays 1.2 epsilon
// for one operation of 14 less, f64 nothing). Horner's form: fewest operations, and enough rows are
// in flight to hide its latency. Adding 1.5 * 2^(mantissa bits) + bias leaves n + bias in the low
// bits of the sum, which shifted into the exponent field are 2^n: no rounding and no conversion
// instruction. ln 2 is one constant: its rounding costs |x| * epsilon relative, that is at most 0.4
// epsilon of the largest weight of a row, which is 1.
//
// Clamping x instead of selecting 0 would give hidden keys a weight of 2^-126 and turn NaN into a
// number. AVX-512's scalef in place of the shift: no gain.

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kCutOff = -87.0f;  // e^-87 = 1.6e-38 is still a normal number
  static constexpr float kShifter = 12582912.0f + 127.0f;
  static constexpr float kC[] = {0.99999962033113681472f, 0.49998891256130239798f,
                                 0.16667573542876416917f, 0.041915380400941990609f,
                                 0.0082976543981801849057f};
};

template <>
struct ExpConstants<double> {
  static constexpr double kCutOff = -708.0;
  static constexpr double kShifter = 6755399441055744.0 + 1023.0;
  static constexpr double kC[] = {
      1.0000000000000000333,    0.50000000000000177007,   0.16666666666666168698,
      0.041666666666492763426,  0.0083333333335592765651, 0.0013888888951225061898,
      0.0001984126943267217524, 2.4801486520269321407e-5, 2.7557622534367461405e-6,
      2.7632293710660511683e-7, 2.4994304551885586964e-8};
};

template <class V>
ATTN_INLINE V Exp(V x) {
  using T = typename V::T;
  using C = ExpConstants<T>;
  constexpr int kTerms = sizeof(C::kC) / sizeof(T);
  const V shifted = MulAdd(x, V::Set(T(1.44269504088896340736)), V::Set(C::kShifter));
  const V n = shifted - V::Set(C::kShifter);
  const V r = MulAdd(n, V::Set(T(-0.693147180559945309417)), x);
  V power = V::Set(C::kC[kTerms - 1]);
  ATTN_UNROLL
  for (int i = kTerms - 2; i >= 0; --i) power = MulAdd(power, r, V::Set(C::kC[i]));
  power = MulAdd(power, r, V::Set(T(1))) * MantissaToExponent(shifted);
  return Select(Less(x, V::Set(C::kCutOff)), V::Set(T(0)), power);
}
