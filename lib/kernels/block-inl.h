// SPDX-License-Identifier: Apache-2.0
// A panel of queries against some keys: who sees whom. Forward and backward go through the same
// blocks, so what is hidden in one is hidden in the other.

// 0, 1, 2, ...: as many as the widest panel has queries.
template <class T>
constexpr T kCount[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                          16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

template <class V>
struct KeyBlock {
  using T = typename V::T;
  T* bias;              // [keys][panel]: additive mask, -inf where hidden; null without masks
  int64_t begin, keys;  // keys begin <= j < begin + keys of the head
  // A lane sees key m of the block by its position where !(m < lower) && m < upper ...
  V lower[2], upper[2];
  int64_t whole_begin, whole_end;  // ... and between these all lanes do
};

template <class T>
ATTN_INLINE bool HasMask(const AttentionTask<T>& t) {
  return t.keep != nullptr || t.add != nullptr;
}

// `hidden` where a lane does not see key m by its position, else x.
template <class V>
ATTN_INLINE V InBand(const KeyBlock<V>& block, int n, int64_t m, V x, V hidden) {
  const V at = V::Set(static_cast<typename V::T>(m));
  const V below = Select(Less(at, block.upper[n]), x, hidden);
  return Select(Less(at, block.lower[n]), hidden, below);
}

// `hidden` where a lane does not see key m by its position or by a mask, else x.
template <class V>
ATTN_INLINE V WhereSeen(const KeyBlock<V>& block, int n, int64_t m, V x, V hidden) {
  const V in_band = InBand(block, n, m, x, hidden);
  if (block.bias == nullptr) return in_band;
  const V none = V::Set(-std::numeric_limits<typename V::T>::infinity());
  return Select(Equal(V::Load(block.bias + m * kPanel<V> + n * V::kLanes), none), hidden, in_band);
}

// The additive mask of the block, -inf where either mask hides; lanes beyond the last query repeat
// it. Element by element: simple, and not fast.
template <class V>
ATTN_INLINE void LoadBias(const AttentionTask<typename V::T>& t, int64_t first, int64_t rows,
                          KeyBlock<V>& block) {
  using T = typename V::T;
  for (int64_t r = 0; r < kPanel<V>; ++r) {
    const int64_t i = first + (r < rows ? r : rows - 1);
    for (int64_t m = 0; m < block.keys; ++m) {
      const int64_t j = block.begin + m;
      const bool kept = t.keep == nullptr || t.keep[i * t.keep_row + j * t.keep_col] != 0;
      const T added = t.add == nullptr ? T(0) : t.add[i * t.add_row + j * t.add_col];
      block.bias[m * kPanel<V> + r] = kept ? added : -std::numeric_limits<T>::infinity();
    }
  }
}

// Keys begin <= j < begin + keys, and which of them the queries first .. first + rows - 1 see.
template <class V>
ATTN_INLINE void EnterBlock(const AttentionTask<typename V::T>& t, int64_t first, int64_t rows,
                            int64_t begin, int64_t keys, KeyBlock<V>& block) {
  using T = typename V::T;
  block.begin = begin, block.keys = keys;
  const int64_t last = first + rows - 1;
  block.whole_begin = ClampIndex(VisibleBegin(last, t.keys, t.low) - begin, keys);
  block.whole_end = ClampIndex(VisibleEnd(first, t.keys, t.high) - begin, keys);
  if (block.bias != nullptr) LoadBias(t, first, rows, block);
  if (block.whole_begin == 0 && block.whole_end == keys && block.bias == nullptr &&
      t.softcap == 0) {
    return;
  }
  // Lane r stands one key further than lane r - 1. A start that is further than a panel below the
  // block or above it says the same as one just there, and is exact in T.
  const auto near = [&](int64_t start) {
    const int64_t at = start - begin;
    return V::Set(static_cast<T>(at < -kPanel<V> ? -kPanel<V> : at > keys ? keys : at));
  };
  static_assert(kPanel<V> * sizeof(T) <= sizeof(kCount<T>));
  const V lower = near(first + t.low), upper = near(first + t.high + 1);
  for (int n = 0; n < 2; ++n) {
    const V lane = V::Load(kCount<T> + n * V::kLanes);
    block.lower[n] = lane + lower;
    block.upper[n] = lane + upper;
  }
}

// Whether all lanes see all keys of the block.
template <class V>
ATTN_INLINE bool SeenByAll(const KeyBlock<V>& block) {
  return block.bias == nullptr && block.whole_begin == 0 && block.whole_end == block.keys;
}

// 0 times a sum of values is NaN exactly when one of them is not finite.
template <class V>
ATTN_INLINE bool AllFinite(const typename V::T* x, int64_t rows, int64_t columns, int64_t x_row,
                           int64_t x_col) {
  using T = typename V::T;
  V zeros = V::Set(0);
  T zero = 0;
  for (int64_t j = 0; j < rows; ++j) {
    const T* row = x + j * x_row;
    V sum = V::Set(0);
    int64_t c = 0;
    if (x_col == 1) {
      for (; c + V::kLanes <= columns; c += V::kLanes) {
        sum = MulAdd(V::Load(row + c), V::Set(0), sum);
      }
    }
    zeros = zeros + sum;  // one chain a row: rows overlap
    for (; c < columns; ++c) zero += row[c * x_col] * 0;
  }
  return ReduceSum(zeros) + zero == 0;
}

// Whether no row of x, a key or a value each, that some query does not see holds inf or NaN.
template <class V>
ATTN_INLINE bool HiddenAreFinite(const KeyBlock<V>& block, const typename V::T* x, int64_t columns,
                                 int64_t x_row, int64_t x_col) {
  if (block.bias != nullptr || block.whole_begin >= block.whole_end) {
    return AllFinite<V>(x, block.keys, columns, x_row, x_col);
  }
  return AllFinite<V>(x, block.whole_begin, columns, x_row, x_col) &&
         AllFinite<V>(x + block.whole_end * x_row, block.keys - block.whole_end, columns, x_row,
                      x_col);
}
