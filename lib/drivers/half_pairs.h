// SPDX-License-Identifier: Apache-2.0
// bf16 in pairs, as the dot product of AVX512_BF16 takes them (kernels/attention-bf16-inl.h).
#ifndef ATTN_DRIVERS_HALF_PAIRS_H_
#define ATTN_DRIVERS_HALF_PAIRS_H_

#include "attn/half.h"
#include "drivers/attention_task.h"
#include "math/half.h"

namespace attn {

ATTN_MATH uint32_t PairOf(BFloat16 x, BFloat16 y) {
  return x.bits | static_cast<uint32_t>(y.bits) << 16;
}

// 1 where one of the two is not finite. Without branches, so that the loops below become vectors.
ATTN_MATH uint32_t NotFinite(uint32_t pair) {
  constexpr uint32_t kLow = 0x7f80, kHigh = 0x7f800000;  // exponents of ones
  return static_cast<uint32_t>((pair & kLow) == kLow) |
         static_cast<uint32_t>((pair & kHigh) == kHigh);
}

// Rows begin <= i < end of a head as pairs of channels; false where one is not finite.
inline bool PairChannels(const View<const BFloat16, 4>& from, int64_t b, int64_t h, int64_t begin,
                         int64_t end, uint32_t* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const int64_t pairs = (width + 1) / 2;
  const BFloat16* x = At(from, b, h) + begin * row;
  uint32_t bad = 0;
  for (int64_t i = begin; i < end; ++i, x += row, to += pairs) {
    if (col == 1 && width % 2 == 0) {
      __builtin_memcpy(to, x, static_cast<size_t>(width) * sizeof(BFloat16));
    } else {
      for (int64_t c = 0; c < pairs; ++c) {
        const bool both = 2 * c + 1 < width;
        to[c] = PairOf(x[2 * c * col], both ? x[(2 * c + 1) * col] : BFloat16{0});
      }
    }
    for (int64_t c = 0; c < pairs; ++c) bad |= NotFinite(to[c]);
  }
  return bad == 0;
}

// The first `keys` rows of a head as pairs of rows.
inline bool PairRows(const View<const BFloat16, 4>& from, int64_t b, int64_t h, int64_t keys,
                     uint32_t* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const BFloat16* x = At(from, b, h);
  uint32_t bad = 0;
  for (int64_t j = 0; j < keys; j += 2, x += 2 * row, to += width) {
    const bool both = j + 1 < keys;
    if (both && col == 1) {
      for (int64_t c = 0; c < width; ++c) to[c] = PairOf(x[c], x[row + c]);
    } else {
      for (int64_t c = 0; c < width; ++c) {
        to[c] = PairOf(x[c * col], both ? x[row + c * col] : BFloat16{0});
      }
    }
    for (int64_t c = 0; c < width; ++c) bad |= NotFinite(to[c]);
  }
  return bad == 0;
}

// The head itself where its rows are pairs of channels already, else null.
inline const uint32_t* PairsInPlace(const View<const BFloat16, 4>& view, int64_t b, int64_t h) {
  const BFloat16* const x = At(view, b, h);
  const bool dense = view.shape[3] % 2 == 0 && view.strides[2] % 2 == 0 && view.strides[3] == 1;
  const bool aligned = reinterpret_cast<uintptr_t>(x) % alignof(uint32_t) == 0;
  return dense && aligned ? reinterpret_cast<const uint32_t*>(x) : nullptr;
}

}  // namespace attn

#endif  // ATTN_DRIVERS_HALF_PAIRS_H_
