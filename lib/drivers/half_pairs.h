// SPDX-License-Identifier: Apache-2.0
// bf16 in pairs, as the dot product of AVX512_BF16 takes them (kernels/attention-bf16-inl.h).
#ifndef ATTN_DRIVERS_HALF_PAIRS_H_
#define ATTN_DRIVERS_HALF_PAIRS_H_

#include "attn/half.h"
#include "drivers/attention_task.h"
#include "math/half.h"

namespace attn {

// x and its successor in 32 bits; whether both are finite.
ATTN_MATH uint32_t PairOf(BFloat16 x, BFloat16 y) {
  return x.bits | static_cast<uint32_t>(y.bits) << 16;
}
ATTN_MATH bool IsFinite(uint32_t pair) {
  return (pair & 0x7f80) != 0x7f80 && (pair & 0x7f800000) != 0x7f800000;
}

// Rows begin <= i < end of a head as pairs of channels; false where one is not finite.
inline bool PairChannels(const View<const BFloat16, 4>& from, int64_t b, int64_t h, int64_t begin,
                         int64_t end, uint32_t* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const BFloat16* x = At(from, b, h) + begin * row;
  uint32_t finite = 1;
  for (int64_t i = begin; i < end; ++i, x += row) {
    for (int64_t c = 0; c + 2 <= width; c += 2) {
      *to = PairOf(x[c * col], x[(c + 1) * col]);
      finite &= IsFinite(*to++);
    }
    if (width % 2 == 0) continue;
    *to = PairOf(x[(width - 1) * col], {0});
    finite &= IsFinite(*to++);
  }
  return finite != 0;
}

// The first `keys` rows of a head as pairs of rows.
inline bool PairRows(const View<const BFloat16, 4>& from, int64_t b, int64_t h, int64_t keys,
                     uint32_t* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const BFloat16* x = At(from, b, h);
  uint32_t finite = 1;
  for (int64_t j = 0; j < keys; j += 2, x += 2 * row, to += width) {
    for (int64_t c = 0; c < width; ++c) {
      to[c] = PairOf(x[c * col], j + 1 < keys ? x[row + c * col] : BFloat16{0});
      finite &= IsFinite(to[c]);
    }
  }
  return finite != 0;
}

}  // namespace attn

#endif  // ATTN_DRIVERS_HALF_PAIRS_H_
