// SPDX-License-Identifier: Apache-2.0
// A part of the keys, contiguous or on pages, against the rows of a group of heads: one row at a
// time, over visible keys only.
#include <cmath>
#include <limits>

#include "math/visibility.h"
#include "reference/kernels.h"

namespace attn::reference {
namespace {

struct Place {
  int64_t k, v;  // offsets of a key and of its value
};

template <class T>
Place PlaceOf(const AttentionDecodeTask<T>& task, int64_t j) {
  const AttentionTask<T>& t = task.head;
  if (task.page_table == nullptr) return {j * t.k_row, j * t.v_row};
  const int64_t page = task.page_table[j / task.page_size * task.page_table_col];
  const int64_t slot = j % task.page_size;
  return {page * task.k_page + slot * t.k_row, page * task.v_page + slot * t.v_row};
}

// Element `offset` of k or v.
template <class T>
T Element(const AttentionDecodeTask<T>& task, const T* x, int64_t offset) {
  if (task.storage == Storage::kSame) return x[offset];
  const uint16_t half = reinterpret_cast<const uint16_t*>(x)[offset];
  return static_cast<T>(task.storage == Storage::kBF16 ? FloatOfBF16(half) : FloatOfF16(half));
}

// The task of head h of the group.
template <class T>
AttentionTask<T> HeadOf(const AttentionDecodeTask<T>& task, int64_t h) {
  AttentionTask<T> t = task.head;
  t.q += h * task.q_head;
  t.o += h * task.o_head;
  if (t.lse != nullptr) t.lse += h * task.lse_head;
  if (t.keep != nullptr) t.keep += h * task.keep_head;
  if (t.add != nullptr) t.add += h * task.add_head;
  if (t.sink != nullptr) t.sink += h * task.sink_head;
  return t;
}

template <class T>
T Largest(const T* s, int64_t n, T start) {
  for (int64_t j = 0; j < n; ++j) start = s[j] > start ? s[j] : start;
  return start;
}

}  // namespace

template <class T>
void AttentionDecode(const AttentionDecodeTask<T>& task) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  T* const key = task.head.scratch;  // [d]
  T* const p = key + task.head.d;
  const int64_t count = task.key_end - task.key_begin;
  for (int64_t row = task.row_begin; row < task.row_end; ++row) {
    AttentionTask<T> t = HeadOf(task, row % task.group);
    const int64_t i = row / task.group;
    const int64_t begin = VisibleBegin(i, t.keys, t.low), end = VisibleEnd(i, t.keys, t.high);
    const auto sees = [&](int64_t j) { return begin <= j && j < end && Sees(t, i, j); };
    t.k_col = 1;
    for (int64_t j = task.key_begin; j < task.key_end; ++j) {
      p[j - task.key_begin] = kNone;
      if (!sees(j)) continue;
      const int64_t at = PlaceOf(task, j).k;
      for (int64_t c = 0; c < t.d; ++c) key[c] = Element(task, t.k, at + c * task.head.k_col);
      p[j - task.key_begin] = Score(t, i, key) + Added(t, i, j);
    }
    t.keys = count;
    const T max = Largest(p, count, t.sink == nullptr ? kNone : *t.sink);
    if (task.sum != nullptr) {
      T sum = t.sink == nullptr || *t.sink == kNone ? T{0} : std::exp(*t.sink - max);
      for (int64_t j = 0; j < count; ++j) sum += p[j] == kNone ? T{0} : std::exp(p[j] - max);
      task.sum[row % task.group * task.lse_head + i * t.lse_row] = sum;
    }
    const T lse = Weights(t, p);
    if (t.lse != nullptr) t.lse[i * t.lse_row] = task.sum == nullptr ? lse : max;
    for (int64_t c = 0; c < t.dv; ++c) {
      T sum = 0;
      for (int64_t j = task.key_begin; j < task.key_end; ++j) {
        if (!sees(j)) continue;
        sum += p[j - task.key_begin] * Element(task, t.v, PlaceOf(task, j).v + c * t.v_col);
      }
      t.o[i * t.o_row + c * t.o_col] = sum;
    }
  }
}

template void AttentionDecode(const AttentionDecodeTask<float>&);
template void AttentionDecode(const AttentionDecodeTask<double>&);

}  // namespace attn::reference
