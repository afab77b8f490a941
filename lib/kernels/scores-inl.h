// SPDX-License-Identifier: Apache-2.0
// The first half of a block of attention: scores of a panel of queries and some keys, soft-cap and
// masks, running maximum, exponentials and their sums.

// What a panel keeps between blocks, and the block at hand.
template <class V>
struct PanelState : KeyBlock<V> {
  using T = typename V::T;
  T* q;          // [d][panel], scaled
  T* s;          // [block][panel]: scores, then exponentials
  T* o;          // [dv][panel]
  V max[2];      // of the scores so far
  V sum[2];      // of exp(score - max) so far
  V rescale[2];  // exp(old max - new max)
};

// Scores as they leave the product: hidden by position, maximum folded.
template <class V>
struct StoreScores {
  using T = typename V::T;
  const PanelState<V>& state;
  Ahead<T, 2>& ahead;
  bool plain;  // CapAndMask does not follow
  V max[2];

  template <int kRows>
  ATTN_INLINE void operator()(int64_t m, const Tile<kRows, V>& tile) {
    ahead.Step(state.begin + m, kRows);
    const bool partly = plain && (m < state.whole_begin || m + kRows > state.whole_end);
    const V hidden = V::Set(-std::numeric_limits<T>::infinity());
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) {
        V score = tile.c[r][n];
        if (partly) score = InBand(state, n, m + r, score, hidden);
        score.Store(state.s + (m + r) * kPanel<V> + n * V::kLanes);
        max[n] = Max(max[n], score);
      }
    }
  }
};

// Scores after the soft-cap and the additive mask; where a query does not see its key they mean
// nothing. `tanh` is left alone without a soft-cap: backward needs 1 - tanh^2.
template <class V>
struct CapAndBias {
  const KeyBlock<V>& block;
  V cap, inverse;
  bool capped;

  ATTN_INLINE CapAndBias(const AttentionTask<typename V::T>& t, const KeyBlock<V>& key_block)
      : block(key_block),
        cap(V::Set(static_cast<typename V::T>(t.softcap))),
        inverse(V::Set(static_cast<typename V::T>(1 / t.softcap))),
        capped(t.softcap != 0) {}

  ATTN_INLINE V operator()(int n, int64_t m, V score, V& tanh) const {
    if (capped) {
      tanh = Tanh(score * inverse);
      score = cap * tanh;
    }
    if (block.bias == nullptr) return score;
    return score + V::Load(block.bias + m * kPanel<V> + n * V::kLanes);
  }
};

// A second pass over the block's scores, for soft-cap and masks: kept out of the product's
// epilogue, which is unrolled 16 times over. Folds the maximum anew.
template <class V>
ATTN_INLINE void CapAndMask(const AttentionTask<typename V::T>& t, PanelState<V>& state,
                            V (&max)[2]) {
  using T = typename V::T;
  const V hidden = V::Set(-std::numeric_limits<T>::infinity());
  const CapAndBias<V> cap_and_bias(t, state);
  V tanh = V::Set(0);
  for (int n = 0; n < 2; ++n) {
    max[n] = state.max[n];
    for (int64_t m = 0; m < state.keys; ++m) {
      T* at = state.s + m * kPanel<V> + n * V::kLanes;
      const V score = WhereSeen(state, n, m, cap_and_bias(n, m, V::Load(at), tanh), hidden);
      score.Store(at);
      max[n] = Max(max[n], score);
    }
  }
}

// Scores of the block to exponentials; `max` is the largest of them and of those before.
template <class V>
ATTN_INLINE void WeighBlock(const AttentionTask<typename V::T>& t, bool plain, V (&max)[2],
                            PanelState<V>& state) {
  if (!plain) CapAndMask(t, state, max);
  ATTN_UNROLL
  for (int n = 0; n < 2; ++n) {
    // While a query has seen nothing its maximum is -inf, and -inf - -inf would be NaN.
    const V inf = V::Set(-std::numeric_limits<typename V::T>::infinity());
    const V shift = Select(Equal(max[n], inf), V::Set(0), max[n]);
    state.rescale[n] = Exp(state.max[n] - shift);
    state.max[n] = max[n];
    V sum = V::Set(0);
    for (int64_t j = 0; j < state.keys; ++j) {
      typename V::T* at = state.s + j * kPanel<V> + n * V::kLanes;
      const V p = Exp(V::Load(at) - shift);
      p.Store(at);
      sum = sum + p;
    }
    state.sum[n] = MulAdd(state.sum[n], state.rescale[n], sum);
  }
}

// Whether a block's scores are what the product gives, but for what position hides.
template <class V>
ATTN_INLINE bool IsPlain(const AttentionTask<typename V::T>& t, const PanelState<V>& state) {
  return t.softcap == 0 && state.bias == nullptr;
}

template <class V>
ATTN_INLINE void ScoreBlock(const AttentionTask<typename V::T>& t, const typename V::T* k,
                            Ahead<typename V::T, 2>& ahead, PanelState<V>& state) {
  const bool plain = IsPlain(t, state);
  StoreScores<V> out = {state, ahead, plain, {state.max[0], state.max[1]}};
  MultiplyAlongRows<V>(state.keys, t.d, k, t.k_row, t.k_col, state.q, out);
  WeighBlock(t, plain, out.max, state);
}
