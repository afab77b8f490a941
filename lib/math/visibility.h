// SPDX-License-Identifier: Apache-2.0
// Which keys a query sees by its position, as a range. Shared by every backend, so `static inline`:
// each unit has a copy of its own, compiled for its own instruction set, and exports none.
#ifndef ATTN_MATH_VISIBILITY_H_
#define ATTN_MATH_VISIBILITY_H_

#include <cstdint>

#if defined(__CUDACC__)
#define ATTN_MATH static inline __host__ __device__
#else
#define ATTN_MATH static inline
#endif

namespace attn {

ATTN_MATH int64_t ClampIndex(int64_t index, int64_t count) {
  return index < 0 ? 0 : index > count ? count : index;
}

// Query `query` sees keys VisibleBegin <= j < VisibleEnd, where it sees i + low <= j <= i + high of
// `keys`. low and high are at most Band::kFar in size (attn/mask.h), so nothing overflows.
ATTN_MATH int64_t VisibleBegin(int64_t query, int64_t keys, int64_t low) {
  return ClampIndex(query + low, keys);
}
ATTN_MATH int64_t VisibleEnd(int64_t query, int64_t keys, int64_t high) {
  return ClampIndex(query + high + 1, keys);
}

}  // namespace attn

#endif  // ATTN_MATH_VISIBILITY_H_
