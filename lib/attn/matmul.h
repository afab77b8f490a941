// SPDX-License-Identifier: Apache-2.0
// The matrix product, on attention's micro-kernel: projections, and the parts of chunked
// recurrences.
#ifndef ATTN_MATMUL_H_
#define ATTN_MATMUL_H_

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

enum class Into { kSet, kAdd };

// C = A B, or C += A B, matrix by matrix: A [B][H][M][K], B [B][H][K][N], C [B][H][M][N]. Any
// strides: a transposed view is a transposed factor, and an input's stride 0 is one matrix for all.
// An empty sum (K 0) is 0. A row's bits depend on that row of A and on B alone.
// Errors (C untouched): shapes that do not fit, a tensor without data, C with stride 0, a dtype
// that the backend does not support.
template <class T>
Status Matmul(const Backend& backend, const View<const T, 4>& a, const View<const T, 4>& b,
              const View<T, 4>& c, Into into = Into::kSet);

// dA = dC B^T, dB = A^T dC.
template <class T>
Status MatmulBackward(const Backend& backend, const View<const T, 4>& a, const View<const T, 4>& b,
                      const View<const T, 4>& d_c, const View<T, 4>& d_a, const View<T, 4>& d_b);

}  // namespace attn

#endif  // ATTN_MATMUL_H_
