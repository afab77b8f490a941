// SPDX-License-Identifier: Apache-2.0
// Which keys a query may see.
#ifndef ATTN_MASK_H_
#define ATTN_MASK_H_

#include <algorithm>
#include <cstdint>
#include <optional>

namespace attn {

// Where query 0 stands when queries and keys differ in number: at the end, so that the last query
// sees the last key (what decoding and chunked prefill mean), or at the beginning.
enum class Align { kBottomRight, kTopLeft };

// Query i stands at key i + offset and sees key j when j <= i + offset. The offset is Sk - Sq
// (bottom right), 0 (top left), or `query_offset` where that is given.
struct CausalMask {
  bool enabled = false;
  Align align = Align::kBottomRight;
  std::optional<int64_t> query_offset;

  int64_t Offset(int64_t queries, int64_t keys) const {
    if (query_offset) return *query_offset;
    return align == Align::kTopLeft ? 0 : keys - queries;
  }
};

// A sliding window around where the query stands, causal or not (Beltagy et al. 2020, section 3.1):
// i + offset - left <= j <= i + offset + right. An absent side is unlimited.
struct Window {
  std::optional<int64_t> left, right;  // >= 0
};

// Query i sees keys i + low <= j <= i + high: what a causal mask and a window come to.
struct Band {
  // Beyond any length: i + kFar does not overflow, and no tensor has so many keys.
  static constexpr int64_t kFar = int64_t{1} << 61;

  int64_t low = -kFar, high = kFar;

  Band() = default;
  Band(const CausalMask& causal, const Window& window, int64_t queries, int64_t keys) {
    const int64_t offset = causal.Offset(queries, keys);
    if (window.left) low = Sum(offset, -*window.left);
    if (window.right) high = Sum(offset, *window.right);
    if (causal.enabled) high = std::min(high, Sum(offset, 0));
  }

 private:
  // Saturates at +-kFar.
  static int64_t Sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) sum = b < 0 ? -kFar : kFar;
    return std::clamp(sum, -kFar, kFar);
  }
};

}  // namespace attn

#endif  // ATTN_MASK_H_
