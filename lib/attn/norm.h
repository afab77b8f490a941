// SPDX-License-Identifier: Apache-2.0
// RMS normalisation (Zhang and Sennrich 2019), also what QK-norm applies to queries and keys.
#ifndef ATTN_NORM_H_
#define ATTN_NORM_H_

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

// y = w * x / sqrt(mean(x^2) + eps) along the last axis: equation (4), with the eps of practice.
// x and y [..][width], w [width]; y may be x. Any strides, and the bits of a row depend on the row
// and on w alone. Rows whose squares leave the dtype's range are scaled: only y itself can
// overflow. The mean's error is that of some 32 additions, whatever the width. A row of zeros with
// eps 0 is 0/0, NaN, and stays in its row. Errors (nothing written): shapes that differ, a tensor
// without data, eps negative or not finite, y with stride 0, a dtype that the backend does not
// support.
template <class T>
Status RmsNorm(const Backend& backend, const View<const T, 4>& x, const View<const T, 1>& w,
               double eps, const View<T, 4>& y);

// Gradients from d_y. With n = x / rms and g = d_y * w: d_x = (g - n mean(g n)) / rms, and d_w sums
// d_y * n over all rows: 32 at a time in the dtype, those sums in f64, in an order that depends on
// the number of rows alone. d_x may be d_y.
template <class T>
Status RmsNormBackward(const Backend& backend, const View<const T, 4>& x, const View<const T, 1>& w,
                       double eps, const View<const T, 4>& d_y, const View<T, 4>& d_x,
                       const View<T, 1>& d_w);

}  // namespace attn

#endif  // ATTN_NORM_H_
