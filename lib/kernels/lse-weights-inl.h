// SPDX-License-Identifier: Apache-2.0
// The weights P = exp(S - LSE) that backward rebuilds, their share where they do not add up, and
// the gradient of a sink, which is one of them.

// What leaves a product without a change. The next tile's place is fetched meanwhile: it is not in
// the first-level cache, and stores that miss it cost these products a tenth.
template <class V>
struct StoreTile {
  typename V::T* to;  // [rows][panel]
  Ahead<typename V::T, 4>* ahead;
  int64_t begin;  // key of row 0

  template <int kRows>
  ATTN_INLINE void operator()(int64_t m, const Tile<kRows, V>& tile) {
    if (ahead != nullptr) ahead->Step(begin + m, kRows);
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n)
        __builtin_prefetch(to + (m + r + kRows) * kPanel<V> + n * V::kLanes, 1);
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) tile.c[r][n].Store(to + (m + r) * kPanel<V> + n * V::kLanes);
    }
  }
};

// P of lane n's queries and key m from their score; soft-cap and additive mask first.
template <class V>
ATTN_INLINE V Weight(const QueryPanel<V>& panel, const CapAndBias<V>& cap_and_bias, int n,
                     int64_t m, V score, V& tanh) {
  return Exp(cap_and_bias(n, m, score, tanh) - panel.lse[n]) * panel.share[n];
}

// Where LSE is so large a number that it does not hold the logarithm of the weights' sum (a penalty
// of -1e30 on every key), exp(score - LSE) add up to more than 1 and share it. They may add up to
// less: LSE can be that of more keys than these, when a part of them is differentiated by itself.
template <class V>
ATTN_PART void ShareWeights(const AttentionBackwardTask<typename V::T>& task, int64_t index,
                            QueryBlock<V>& block) {
  using T = typename V::T;
  // Rounding an LSE of this size in f32 changes the weights by 8e-6 of their size.
  constexpr T kLarge = 128;
  const AttentionTask<T>& t = task.forward;
  QueryPanel<V>& panel = block.panel[index];
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const V none = V::Set(0), sink = V::Set(t.sink == nullptr ? -kInf : *t.sink);
  V large = none, sum[2];
  for (int n = 0; n < 2; ++n) {
    const V size = Max(panel.lse[n], none - panel.lse[n]);
    large = Max(large, Select(Equal(size, V::Set(kInf)), none, size));
    sum[n] = Exp(sink - panel.lse[n]);
  }
  if (ReduceMax(large) <= kLarge) return;
  const int64_t begin = VisibleBegin(panel.first, t.keys, t.low);
  const int64_t end = VisibleEnd(panel.first + panel.rows - 1, t.keys, t.high);
  KeyBlock<V> keys;
  keys.bias = block.bias;
  const CapAndBias<V> cap_and_bias(t, keys);
  for (int64_t j = begin; j < end; j += kBackwardKeys<V>) {
    const int64_t left = end - j;
    EnterBlock<V>(t, panel.first, panel.rows, j, left < kBackwardKeys<V> ? left : kBackwardKeys<V>,
                  keys);
    StoreTile<V> out = {block.p, nullptr, 0};
    MultiplyAlongRows<V>(keys.keys, t.d, t.k + j * t.k_row, t.k_row, t.k_col,
                         block.q + index * kPanel<V> * t.d, out);
    for (int64_t m = 0; m < keys.keys; ++m) {
      const bool partly = keys.bias != nullptr || m < keys.whole_begin || m >= keys.whole_end;
      for (int n = 0; n < 2; ++n) {
        V tanh = none;
        const V score = V::Load(block.p + m * kPanel<V> + n * V::kLanes);
        const V weight = Weight(panel, cap_and_bias, n, m, score, tanh);
        sum[n] = sum[n] + (partly ? WhereSeen(keys, n, m, weight, none) : weight);
      }
    }
  }
  for (int n = 0; n < 2; ++n) {
    panel.share[n] = Select(Less(V::Set(1), sum[n]), V::Set(1) / sum[n], V::Set(1));
  }
}

template <class V>
ATTN_INLINE void AddSink(const AttentionBackwardTask<typename V::T>& task,
                         const QueryPanel<V>& panel) {
  using T = typename V::T;
  T gradient[kPanel<V>];
  for (int n = 0; n < 2; ++n) {
    const V p = Exp(V::Set(*task.forward.sink) - panel.lse[n]) * panel.share[n];
    (p * (V::Set(0) - panel.delta[n])).Store(gradient + n * V::kLanes);
  }
  for (int64_t r = 0; r < panel.rows; ++r) *task.d_sink += gradient[r];
}
