// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_LIB_MODEL_DOUBLE_DOUBLE_H_
#define ATTN_LIB_MODEL_DOUBLE_DOUBLE_H_

// Sums of two doubles (about 106 bits): enough to round exp and log
// correctly where the tables of the random stream depend on their last bit, so
// that no C library has a say in it. Used for a few hundred values. Correct only without
// reassociation and without contraction into fused multiply-adds: lib/CMakeLists.txt builds users
// of this header with -ffp-contract=off.
//
// Sources: T. J. Dekker, "A floating-point technique for extending the
// available precision" (1971); D. E. Knuth, TAOCP 2, 4.2.2.

#include <cmath>

namespace attn::model {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;  // |lo| <= ulp(hi) / 2
};

inline DoubleDouble FastTwoSum(double a, double b) {  // |a| >= |b| or a == 0
  const double s = a + b;
  return {s, b - (s - a)};
}

inline DoubleDouble TwoSum(double a, double b) {
  const double s = a + b;
  const double t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

inline DoubleDouble TwoProduct(double a, double b) {
  constexpr double kSplit = 134217729.0;  // 2^27 + 1
  const double ta = kSplit * a, ah = ta - (ta - a), al = a - ah;
  const double tb = kSplit * b, bh = tb - (tb - b), bl = b - bh;
  const double p = a * b;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = TwoSum(a.hi, b.hi);
  const DoubleDouble t = TwoSum(a.lo, b.lo);
  s = FastTwoSum(s.hi, s.lo + t.hi);
  return FastTwoSum(s.hi, s.lo + t.lo);
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  DoubleDouble p = TwoProduct(a.hi, b.hi);
  p.lo += a.hi * b.lo + a.lo * b.hi;
  return FastTwoSum(p.hi, p.lo);
}

inline DoubleDouble operator/(DoubleDouble a, double b) {
  const double q = a.hi / b;
  const DoubleDouble r = a + -TwoProduct(q, b);
  return FastTwoSum(q, r.hi / b);
}

// e^x for |x| < 700, to about 1e-30 relative.
inline DoubleDouble Exp(DoubleDouble x) {
  constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  const double k = std::nearbyint(x.hi / kLn2.hi);
  // |r| <= 0.35 / 8; 16 terms leave (0.044)^17 / 17! = 2e-38.
  DoubleDouble r = x + -(kLn2 * DoubleDouble{k, 0});
  r = {r.hi / 8, r.lo / 8};
  DoubleDouble sum{1, 0};
  for (int n = 16; n >= 1; --n) sum = DoubleDouble{1, 0} + (sum * r) / n;
  for (int i = 0; i < 3; ++i) sum = sum * sum;
  const int scale = static_cast<int>(k);
  return {std::ldexp(sum.hi, scale), std::ldexp(sum.lo, scale)};
}

// ln x for x > 0: one Newton step on e^y = x from the C library's value,
// whose error of 1e-16 becomes 1e-32 whatever that library is.
inline DoubleDouble Log(DoubleDouble x) {
  const double y = std::log(x.hi);
  const DoubleDouble e = x * Exp({-y, 0}) + DoubleDouble{-1, 0};  // about 1e-16
  return DoubleDouble{y, 0} + e + DoubleDouble{-e.hi * e.hi / 2, 0};
}

// Correctly rounded but for arguments within 1e-14 ulp of a tie.
inline double RoundedExp(double x) { return Exp({x, 0}).hi; }
inline double RoundedLog(double x) { return Log({x, 0}).hi; }

}  // namespace attn::model

#endif  // ATTN_LIB_MODEL_DOUBLE_DOUBLE_H_
