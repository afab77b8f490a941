// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm of single numbers with the same bits on every machine: the kernels'
// own, on the portable lowering. (The C library's differ from one system to the next in the last
// bit.)
#ifndef ATTN_MATH_ELEMENTARY_H_
#define ATTN_MATH_ELEMENTARY_H_

namespace attn {

// e^x for x <= 0 (kernels/exp-inl.h): 1 at 0, 0 at -inf and below -708, NaN stays NaN.
double ExpOfNegative(double x);

// ln x for x >= 0 that is 0 or a normal number (kernels/log-inl.h): -inf at 0, NaN stays NaN.
double LogOf(double x);

}  // namespace attn

#endif  // ATTN_MATH_ELEMENTARY_H_
