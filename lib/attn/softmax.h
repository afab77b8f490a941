// SPDX-License-Identifier: Apache-2.0
// Softmax of rows, and its Jacobian J = diag(p) - p p^T.
#ifndef ATTN_SOFTMAX_H_
#define ATTN_SOFTMAX_H_

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

// p[r] = softmax(x[r]); lse[r] = log sum exp x[r] (natural; may be absent). x, p [rows][columns],
// any strides; p may be x itself. A row of only -inf, or without columns, has weights 0 and
// LSE -inf. NaN stays in its row.
template <class T>
Status SoftmaxRows(const Backend& backend, const View<const T, 2>& x, const View<T, 2>& p,
                   const View<T, 1>& lse = {});

// jacobian[i][j] = p_i (delta_ij - p_j). p [n], jacobian [n][n]. For teaching and tests: nothing
// else in this library ever builds it.
template <class T>
Status SoftmaxJacobian(const View<const T, 1>& p, const View<T, 2>& jacobian);

// out = J g = p o (g - p . g), about 3 n operations instead of n^2. p, g, out [n]; out may be g.
template <class T>
Status SoftmaxJacobianProduct(const View<const T, 1>& p, const View<const T, 1>& g,
                              const View<T, 1>& out);

// out = (softmax(z + step e_j) - softmax(z)) / step: column j of J, nudged. z, out [n].
template <class T>
Status SoftmaxFiniteDifference(const View<const T, 1>& z, int64_t j, T step, const View<T, 1>& out);

}  // namespace attn

#endif  // ATTN_SOFTMAX_H_
