// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021, section 3.2.2): pairs of channels turn by an angle
// that grows with the position, so that q.k depends on the distance alone.
#ifndef ATTN_ROTARY_H_
#define ATTN_ROTARY_H_

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

// Which two of the first r channels are pair k: (2k, 2k + 1), as in the paper, or (k, k + r/2), as
// in GPT-NeoX and Llama's published code.
enum class RotaryPairing { kInterleaved, kHalf };

// cos and sin [rows][r/2]. positions [B][S] choose a token's row; absent: token s has row s.
// r, twice the tables' width, is how many of the channels turn; the rest stay as they are.
template <class T>
struct RotaryTables {
  View<const T, 2> cos, sin;
  View<const int64_t, 2> positions = {};
};

// Pair (x1, x2) becomes (x1 cos - x2 sin, x1 sin + x2 cos). x and y [B][H][S][D]; y may be x.
// Any strides, the tables' too; the bits depend on no layout.
// Errors (nothing written): shapes that differ, r above D, a position that is no row, a tensor
// without data, y with stride 0, a dtype that the backend does not support.
template <class T>
Status RotaryEmbedding(const Backend& backend, const View<const T, 4>& x,
                       const RotaryTables<T>& tables, RotaryPairing pairing, const View<T, 4>& y);

// The gradient of x: the same turn backwards. d_x may be d_y.
template <class T>
Status RotaryEmbeddingBackward(const Backend& backend, const View<const T, 4>& d_y,
                               const RotaryTables<T>& tables, RotaryPairing pairing,
                               const View<T, 4>& d_x);

// Row p, column k: cos and sin of p * base^(-2k/r), the paper's theta with base 10000, computed in
// f64. Errors: shapes that differ, base not finite or not above 0.
template <class T>
Status FillRotaryTables(double base, const View<T, 2>& cos, const View<T, 2>& sin);

}  // namespace attn

#endif  // ATTN_ROTARY_H_
