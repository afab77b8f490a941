// SPDX-License-Identifier: Apache-2.0
// Attention forward, a panel of queries at a time (Dao et al. 2022, algorithm 1; Rabe and Staats
// 2021). Queries lie in the lanes: S^T = K Q^T and O^T += V^T P^T are the same micro-kernel, and
// the running maximum, sum and correction are plain vectors, so no lane ever talks to another.
//
// A row's arithmetic depends on its own index alone: neither on the panel it is in nor on the split
// of the work over threads. Each block's product starts at 0 and is merged into O, which makes the
// error three times smaller than carrying O in the accumulators, at no cost.
//
// The explicit form (scores, softmax, product) is this algorithm with one block as long as the row.

// o = o * rescale + tile.
template <class V>
struct MergeOutput {
  typename V::T* o;
  V rescale[2];

  template <int kRows>
  ATTN_INLINE void operator()(int64_t m, const Tile<kRows, V>& tile) {
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) {
        typename V::T* at = o + (m + r) * kPanel<V> + n * V::kLanes;
        MulAdd(V::Load(at), rescale[n], tile.c[r][n]).Store(at);
      }
    }
  }
};

// A weight of 0 does not silence a value that is inf or NaN: where a hidden value is not finite,
// each product is taken only in the lanes that see it. Never reached with ordinary input.
template <class V>
ATTN_INLINE void AddValuesWhereSeen(const AttentionTask<typename V::T>& t, const typename V::T* v,
                                    PanelState<V>& state) {
  using T = typename V::T;
  const V zero = V::Set(0);
  for (int64_t c = 0; c < t.dv; ++c) {
    for (int n = 0; n < 2; ++n) {
      V sum = zero;
      for (int64_t m = 0; m < state.keys; ++m) {
        const V value = WhereSeen(state, n, m, V::Set(v[m * t.v_row + c * t.v_col]), zero);
        sum = MulAdd(V::Load(state.s + m * kPanel<V> + n * V::kLanes), value, sum);
      }
      T* at = state.o + c * kPanel<V> + n * V::kLanes;
      MulAdd(V::Load(at), state.rescale[n], sum).Store(at);
    }
  }
}

template <class V>
ATTN_INLINE void AddValues(const AttentionTask<typename V::T>& t, const typename V::T* v,
                           const PanelState<V>& state) {
  MergeOutput<V> out = {state.o, {state.rescale[0], state.rescale[1]}};
  MultiplyDownColumns<V>(t.dv, state.keys, v, t.v_col, t.v_row, state.s, out);
}

// O / sum and LSE = max + log(sum); a query that saw nothing has output 0 and LSE -inf.
template <class V>
ATTN_INLINE void StoreRows(const AttentionTask<typename V::T>& t, int64_t first, int64_t rows,
                           const PanelState<V>& state) {
  using T = typename V::T;
  T inverse[kPanel<V>], lse[kPanel<V>];
  for (int n = 0; n < 2; ++n) {
    const V nothing = V::Set(0);
    const V sum = state.sum[n];
    Select(Equal(sum, nothing), nothing, V::Set(1) / sum).Store(inverse + n * V::kLanes);
    (state.max[n] + Log(sum)).Store(lse + n * V::kLanes);
  }
  UnpackRows<V>(state.o, inverse, rows, t.dv, t.o + first * t.o_row, t.o_row, t.o_col);
  if (t.lse == nullptr) return;
  for (int64_t r = 0; r < rows; ++r) t.lse[(first + r) * t.lse_row] = lse[r];
}

// Rows first <= i < first + rows, rows <= kPanel. Lanes beyond the last row are queries of zeros,
// and are not written.
template <class V>
ATTN_INLINE void AttendPanel(const AttentionTask<typename V::T>& t, int64_t first, int64_t rows,
                             int64_t block) {
  using T = typename V::T;
  constexpr int64_t kQueries = kPanel<V>;
  PanelState<V> state;
  state.q = t.scratch;
  state.s = state.q + t.d * kQueries;
  state.o = state.s + block * kQueries;
  state.bias = HasMask(t) ? state.o + t.dv * kQueries : nullptr;
  PackRows<V>(t.q + first * t.q_row, t.q_row, t.q_col, rows, t.d, static_cast<T>(t.scale), state.q);
  for (int64_t x = 0; x < t.dv * kQueries; x += V::kLanes) V::Set(0).Store(state.o + x);
  const T none = -std::numeric_limits<T>::infinity();
  const T sink = t.sink == nullptr ? none : *t.sink;
  for (int n = 0; n < 2; ++n) {
    state.max[n] = V::Set(sink);
    state.sum[n] = V::Set(sink == none ? T(0) : T(1));
  }

  const int64_t begin = VisibleBegin(first, t.keys, t.low);
  const int64_t end = VisibleEnd(first + rows - 1, t.keys, t.high);
  const int64_t left = t.query_end - first - kQueries;
  Ahead<T, 2> ahead = {.queries = {{t.q, t.q_row, t.q_col, t.d}, {t.o, t.o_row, t.o_col, t.dv}},
                       .keys = {{t.k, t.k_row, t.k_col, t.d}, {t.v, t.v_row, t.v_col, t.dv}},
                       .key_count = t.keys,
                       .first = first + kQueries,
                       .rows = left < 0          ? 0
                               : left < kQueries ? left
                                                 : kQueries,
                       .end = end,
                       .work = end - begin,
                       .block = block,
                       .first_queries = first == t.query_begin};
  for (int64_t j = begin; j < end; j += block) {
    EnterBlock<V>(t, first, rows, j, j + block < end ? block : end - j, state);
    const T* v = t.v + j * t.v_row;
    ScoreBlock<V>(t, t.k + j * t.k_row, ahead, state);
    if (HiddenAreFinite<V>(state, v, t.dv, t.v_row, t.v_col)) {
      AddValues(t, v, state);
    } else {
      AddValuesWhereSeen(t, v, state);
    }
  }
  StoreRows<V>(t, first, rows, state);
}

template <class T>
void Attend(const AttentionTask<T>& t, int64_t block) {
  using V = Vec<T>;
  for (int64_t i = t.query_begin; i < t.query_end; i += kPanel<V>) {
    const int64_t left = t.query_end - i;
    AttendPanel<V>(t, i, left < kPanel<V> ? left : kPanel<V>, block);
  }
}

template <class T>
int64_t AttentionScratch(const AttentionTask<T>& t, int64_t block) {
  // A stride of 0 allows widths and lengths up to 2^60: beyond any memory, but not beyond int64_t.
  constexpr int64_t kPanelWidth = kPanel<Vec<T>>;
  const int64_t rows = t.d + t.dv + (HasMask(t) ? 2 : 1) * block;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return rows > kMost / kPanelWidth ? kMost : rows * kPanelWidth;
}

template <class T>
void AttentionFlash(const AttentionTask<T>& t) {
  Attend(t, Vec<T>::kKeyBlock);
}

template <class T>
int64_t AttentionFlashScratch(const AttentionTask<T>& t) {
  return AttentionScratch(t, Vec<T>::kKeyBlock);
}

template <class T>
void AttentionExplicit(const AttentionTask<T>& t) {
  Attend(t, t.keys);
}

template <class T>
int64_t AttentionExplicitScratch(const AttentionTask<T>& t) {
  return AttentionScratch(t, t.keys);
}
