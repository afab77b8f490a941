// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor as the kernels on rows want them: offsets, and unit column stride. Where columns
// lie apart, rows are copied into a dense block and back: so bits depend on no layout, and the
// kernels have one path.
#ifndef ATTN_DRIVERS_ROWS_H_
#define ATTN_DRIVERS_ROWS_H_

#include <array>
#include <cstdint>

#include "attn/tensor.h"
#include "kernels/tasks.h"

namespace attn {

template <class T, size_t kRank>
bool HasDenseRows(const View<T, kRank>& view) {
  return view.strides[kRank - 1] == 1 || view.shape[kRank - 1] <= 1;
}

using RowOffsets = std::array<int64_t, kRowsAtOnce>;

// Some rows of one tensor.
template <class T>
struct Rows {
  T* data = nullptr;
  RowOffsets at;

  Rows() = default;
  // Those of a dense block.
  Rows(T* block, int64_t width) : data(block) {
    for (int64_t n = 0; n < kRowsAtOnce; ++n) at[static_cast<size_t>(n)] = n * width;
  }
  int64_t& operator[](int64_t n) { return at[static_cast<size_t>(n)]; }
  int64_t operator[](int64_t n) const { return at[static_cast<size_t>(n)]; }
};

// to = from: `count` rows of `width`, whose columns lie `from_col` and `to_col` apart.
template <class T, class U>
void CopyRows(const Rows<U>& from, int64_t from_col, int64_t count, int64_t width,
              const Rows<T>& to, int64_t to_col) {
  for (int64_t n = 0; n < count; ++n) {
    const U* const x = from.data + from[n];
    T* const y = to.data + to[n];
    for (int64_t e = 0; e < width; ++e) y[e * to_col] = x[e * from_col];
  }
}

}  // namespace attn

#endif  // ATTN_DRIVERS_ROWS_H_
