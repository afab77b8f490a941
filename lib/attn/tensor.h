// SPDX-License-Identifier: Apache-2.0
// Tensors are views: a pointer, extents, and strides in elements. The library never owns data.
#ifndef ATTN_TENSOR_H_
#define ATTN_TENSOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attn/status.h"

namespace attn {

template <size_t kRank>
using Shape = std::array<int64_t, kRank>;

// Any strides are allowed, also 0 (a broadcast input) and a slowest last dimension. Indices are
// 64-bit everywhere: an [8][1048576][8][256] tensor ends at offset 17179869183.
template <class T, size_t kRank>
struct View {
  T* data = nullptr;
  Shape<kRank> shape{};
  Shape<kRank> strides{};

  View() = default;
  View(T* pointer, const Shape<kRank>& extents, const Shape<kRank>& steps)
      : data(pointer), shape(extents), strides(steps) {}

  // Row-major, without gaps. Extents whose product overflows wrap here and are refused by the
  // functions that take the view.
  View(T* pointer, const Shape<kRank>& extents) : data(pointer), shape(extents) {
    uint64_t step = 1;
    for (size_t i = kRank; i-- > 0;) {
      strides[i] = static_cast<int64_t>(step);
      step *= static_cast<uint64_t>(extents[i]);
    }
  }

  // A view of T reads as a view of const T.
  template <class U>
    requires(std::is_same_v<T, const U>)
  View(const View<U, kRank>& other)
      : data(other.data), shape(other.shape), strides(other.strides) {}

  template <class... Index>
    requires(sizeof...(Index) == kRank)
  int64_t Offset(Index... index) const {
    const int64_t at[] = {static_cast<int64_t>(index)...};
    int64_t offset = 0;
    for (size_t i = 0; i < kRank; ++i) offset += at[i] * strides[i];
    return offset;
  }

  template <class... Index>
  T& operator()(Index... index) const {
    return data[Offset(index...)];
  }

  bool present() const { return data != nullptr; }
};

// Number of elements, or an error that names `what` when an extent is negative or when the bytes
// of a dense tensor of 8-byte elements would not fit 63 bits.
template <size_t kRank>
Result<int64_t> NumElements(const char* what, const Shape<kRank>& shape) {
  int64_t n = 1;
  bool empty = false;
  for (size_t i = 0; i < kRank; ++i) {
    if (shape[i] < 0)
      return InvalidArgument(what, ": extent ", shape[i], " of axis ", static_cast<int64_t>(i));
    if (shape[i] == 0) empty = true;
  }
  if (empty) return int64_t{0};
  for (size_t i = 0; i < kRank; ++i) {
    if (n > std::numeric_limits<int64_t>::max() / 8 / shape[i]) {
      return InvalidArgument(what, ": the bytes overflow at extent ", shape[i], " of axis ",
                             static_cast<int64_t>(i));
    }
    n *= shape[i];
  }
  return n;
}

// Elements of `view`, or an error that names `what` when it has elements but no data.
template <class T, size_t kRank>
Result<int64_t> CheckInput(const char* what, const View<T, kRank>& view) {
  Result<int64_t> n = NumElements(what, view.shape);
  if (n.ok() && *n > 0 && !view.present()) {
    return InvalidArgument(what, " is absent, ", *n, " elements are needed");
  }
  return n;
}

// A tensor that may be absent: then it has no elements either. One with a shape and without data is
// a mistake that would silently change the result.
template <class T, size_t kRank>
Status CheckOptional(const char* what, const View<T, kRank>& view) {
  return CheckInput(what, view).status();
}

// An output must have a place of its own for each element: a stride of 0 along an axis longer than
// 1 would make the result depend on the order of the writes. That outputs overlap in other ways,
// each other or an input, is not checked: unless a function says otherwise they must not.
template <class T, size_t kRank>
Status CheckOutput(const char* what, const View<T, kRank>& view) {
  const Result<int64_t> n = CheckInput(what, view);
  if (!n.ok()) return n.status();
  if (*n == 0) return {};
  for (size_t i = 0; i < kRank; ++i) {
    if (view.shape[i] > 1 && view.strides[i] == 0) {
      return InvalidArgument(what, ": an output cannot have stride 0 (axis ",
                             static_cast<int64_t>(i), " of extent ", view.shape[i], ")");
    }
  }
  return {};
}

}  // namespace attn

#endif  // ATTN_TENSOR_H_
