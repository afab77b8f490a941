// SPDX-License-Identifier: Apache-2.0
// A head of 16 bits to and from f32, and the scratch in which it lies.
#ifndef ATTN_DRIVERS_HALF_ROWS_H_
#define ATTN_DRIVERS_HALF_ROWS_H_

#include <span>

#include "attn/half.h"
#include "drivers/attention_task.h"

namespace attn {

// Rows begin <= i < end of a head, dense.
template <class S>
void WidenHead(const View<const S, 4>& from, int64_t b, int64_t h, int64_t begin, int64_t end,
               float* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const S* x = At(from, b, h) + begin * row;
  for (int64_t i = begin; i < end; ++i, x += row, to += width) {
    if (col == 1) {
      Widen(std::span(x, static_cast<size_t>(width)), std::span(to, static_cast<size_t>(width)));
    } else {
      for (int64_t c = 0; c < width; ++c) to[c] = ToFloat(x[c * col]);
    }
  }
}

template <class S>
void NarrowHead(const float* from, const View<S, 4>& to, int64_t b, int64_t h, int64_t begin,
                int64_t end) {
  const int64_t width = to.shape[3], row = to.strides[2], col = to.strides[3];
  S* x = At(to, b, h) + begin * row;
  for (int64_t i = begin; i < end; ++i, x += row, from += width) {
    const std::span<const float> dense(from, static_cast<size_t>(width));
    if (col == 1) {
      Narrow(dense, std::span(x, static_cast<size_t>(width)));
    } else {
      for (int64_t c = 0; c < width; ++c)
        Narrow(dense.subspan(static_cast<size_t>(c), 1), std::span(x + c * col, 1));
    }
  }
}

// The same problem with one dense head of f32 for all; its tensors have no data yet.
template <class S>
AttentionInputs<float> DenseInputs(const AttentionInputs<S>& in) {
  const auto dense = [](const Shape<4>& shape) {
    return View<const float, 4>(nullptr, shape, {0, 0, shape[3], 1});
  };
  AttentionInputs<float> to = {dense(in.q.shape), dense(in.k.shape), dense(in.v.shape)};
  to.mask_keep = in.mask_keep, to.mask_add = in.mask_add;
  to.sinks = in.sinks, to.kv_lens = in.kv_lens;
  return to;
}

// Consecutive pieces of one block.
class Pieces {
 public:
  void Add(int64_t rows, int64_t width) {
    int64_t elements = 0;
    overflow_ = __builtin_mul_overflow(rows, width, &elements) ||
                __builtin_add_overflow(elements, 15, &elements) ||
                __builtin_add_overflow(total_, elements & ~int64_t{15}, &total_) || overflow_;
  }
  int64_t total() const { return overflow_ ? -1 : total_; }

 private:
  int64_t total_ = 0;
  bool overflow_ = false;
};

inline float* Take(float*& at, int64_t rows, int64_t width) {
  float* const piece = at;
  at += (rows * width + 15) & ~int64_t{15};
  return piece;
}

}  // namespace attn

#endif  // ATTN_DRIVERS_HALF_ROWS_H_
