// SPDX-License-Identifier: Apache-2.0
// Attention forward of bf16 on AVX512_BF16's dot product, which adds two products of bf16 to a lane
// of f32: attention-inl.h's algorithm with a micro-kernel of pairs. In S^T = K Q^T two channels are
// a pair, in O^T += V^T P^T two keys; the weights are rounded to bf16 for the second, their sum is
// not.

// Two bf16 in each lane, as 32 bits that are called float: broadcast and loaded, never computed
// with.
struct Pairs {
  using T = float;
  using V = Vec<float>;
  static constexpr int64_t kLanes = V::kLanes;
  static constexpr int kTileRows = V::kTileRows;
  static constexpr int kTileSteps = V::kTileSteps;

  __m512 raw;

  static ATTN_INLINE Pairs Set(float x) { return {_mm512_set1_ps(x)}; }
  static ATTN_INLINE Pairs Load(const float* p) { return {_mm512_loadu_ps(p)}; }
  // a . b + c, where c is of f32.
  friend ATTN_INLINE Pairs MulAdd(Pairs a, Pairs b, Pairs c) {
    return {_mm512_dpbf16_ps(c.raw, __builtin_bit_cast(__m512bh, a.raw),
                             __builtin_bit_cast(__m512bh, b.raw))};
  }
};

// Hands a tile's sums on as what they are.
template <class Out>
struct Sums {
  using V = Vec<float>;
  Out& out;
  V scale;

  template <int kRows>
  ATTN_INLINE void operator()(int64_t m, const Tile<kRows, Pairs>& pairs) {
    Tile<kRows, V> tile;
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) tile.c[r][n] = V{pairs.c[r][n].raw} * scale;
    }
    out(m, tile);
  }
};

// Rows 2m and 2m + 1 of the weights become row m of pairs, in place.
ATTN_INLINE void PairWeights(PanelState<Vec<float>>& state) {
  using V = Vec<float>;
  constexpr int64_t kQueries = kPanel<V>;
  alignas(64) uint16_t order[32];
  for (int i = 0; i < 16; ++i) {
    order[2 * i] = static_cast<uint16_t>(i);
    order[2 * i + 1] = static_cast<uint16_t>(16 + i);
  }
  const __m512i interleave = _mm512_load_si512(order);
  for (int64_t m = 0; m < state.keys; m += 2) {
    for (int64_t n = 0; n < kQueries; n += V::kLanes) {
      const float* const at = state.s + m * kQueries + n;
      const __m512 first = _mm512_loadu_ps(at);
      const __m512 second =
          m + 1 < state.keys ? _mm512_loadu_ps(at + kQueries) : _mm512_setzero_ps();
      const auto halves = __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(second, first));
      _mm512_storeu_si512(state.s + m / 2 * kQueries + n,
                          _mm512_permutexvar_epi16(interleave, halves));
    }
  }
}

ATTN_INLINE void AttendPanelBF16(const AttentionBF16Task& task, int64_t first, int64_t rows) {
  using V = Vec<float>;
  constexpr int64_t kQueries = kPanel<V>;
  constexpr int64_t kBlock = V::kKeyBlock;
  static_assert(kBlock % 2 == 0);
  const AttentionTask<float>& t = task.head;
  const auto bits = [](const uint32_t* x) { return reinterpret_cast<const float*>(x); };
  PanelState<V> state;
  state.q = t.scratch;
  state.s = state.q + task.pairs * kQueries;
  state.o = state.s + kBlock * kQueries;
  state.bias = HasMask(t) ? state.o + t.dv * kQueries : nullptr;
  PackRows<V, false>(bits(task.q) + first * task.pairs, task.pairs, 1, rows, task.pairs, 1,
                     state.q);
  for (int64_t x = 0; x < t.dv * kQueries; x += V::kLanes) V::Set(0).Store(state.o + x);
  const float none = -std::numeric_limits<float>::infinity();
  const float sink = t.sink == nullptr ? none : *t.sink;
  for (int n = 0; n < 2; ++n) {
    state.max[n] = V::Set(sink);
    state.sum[n] = V::Set(sink == none ? 0.0f : 1.0f);
  }
  Ahead<float, 2> nothing = {};
  nothing.work = 1;
  // An even begin, because pairs of keys begin there; the key before is hidden.
  const int64_t begin = VisibleBegin(first, t.keys, t.low) & ~int64_t{1};
  const int64_t end = VisibleEnd(first + rows - 1, t.keys, t.high);
  for (int64_t j = begin; j < end; j += kBlock) {
    EnterBlock<V>(t, first, rows, j, j + kBlock < end ? kBlock : end - j, state);
    const bool plain = IsPlain(t, state);
    StoreScores<V> scores = {state, nothing, plain, {state.max[0], state.max[1]}};
    Sums<StoreScores<V>> scaled = {scores, V::Set(static_cast<float>(t.scale))};
    MultiplyAlongRows<Pairs>(state.keys, task.pairs, bits(task.k) + j * task.k_row, task.k_row, 1,
                             state.q, scaled);
    WeighBlock(t, plain, scores.max, state);
    PairWeights(state);
    MergeOutput<V> merge = {state.o, {state.rescale[0], state.rescale[1]}};
    Sums<MergeOutput<V>> sums = {merge, V::Set(1)};
    MultiplyDownColumns<Pairs>(t.dv, (state.keys + 1) / 2, bits(task.v) + j / 2 * t.dv, 1, t.dv,
                               state.s, sums);
  }
  StoreRows<V>(t, first, rows, state);
}

ATTN_INLINE void AttendBF16(const AttentionBF16Task& task) {
  constexpr int64_t kQueries = kPanel<Vec<float>>;
  for (int64_t i = task.head.query_begin; i < task.head.query_end; i += kQueries) {
    const int64_t left = task.head.query_end - i;
    AttendPanelBF16(task, i, left < kQueries ? left : kQueries);
  }
}
