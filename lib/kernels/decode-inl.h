// SPDX-License-Identifier: Apache-2.0
// Attention of few queries: the values' share, the pass over the keys, and its results. Keys come
// in runs, each on one page.

// o[r] = o[r] rescale[r] + sum over keys of p[m][r] v[m], kVectors vectors of channels, the last of
// `count` elements where kPart; the same elements of `ahead`'s rows are fetched.
template <int kVectors, bool kPart, class V, class S>
ATTN_INLINE void AddValueTile(int64_t keys, const typename V::T* p, const S* v, int64_t v_row,
                              int64_t count, const S* ahead, int64_t ahead_row,
                              const typename V::T* rescale, typename V::T* o, int64_t o_row) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(S));
  V sum[kTileQueries][kVectors];
  ATTN_UNROLL
  for (int r = 0; r < kTileQueries; ++r) {
    ATTN_UNROLL
    for (int n = 0; n < kVectors; ++n) sum[r][n] = V::Set(0);
  }
  for (int64_t m = 0; m < keys; ++m) {
    if (ahead != nullptr) {
      ATTN_UNROLL
      for (int64_t c = 0; c < kVectors * V::kLanes; c += kLine) __builtin_prefetch(ahead + c);
      ahead += ahead_row;
    }
    V value[kVectors];
    ATTN_UNROLL
    for (int n = 0; n < kVectors; ++n) {
      value[n] = n == kVectors - 1 ? LoadWhole<kPart, V>(v + n * V::kLanes, count)
                                   : LoadFrom<V>(v + n * V::kLanes);
    }
    ATTN_UNROLL
    for (int r = 0; r < kTileQueries; ++r) {
      const V weight = V::Set(p[m * kTileQueries + r]);
      ATTN_UNROLL
      for (int n = 0; n < kVectors; ++n) sum[r][n] = MulAdd(weight, value[n], sum[r][n]);
    }
    v += v_row;
  }
  ATTN_UNROLL
  for (int r = 0; r < kTileQueries; ++r) {
    ATTN_UNROLL
    for (int n = 0; n < kVectors; ++n) {
      typename V::T* const at = o + r * o_row + n * V::kLanes;
      MulAdd(V::Load(at), V::Set(rescale[r]), sum[r][n]).Store(at);
    }
  }
}

template <class V, class S>
ATTN_INLINE void AddValuesOfTile(const AttentionTask<typename V::T>& t, const KeyRun<S>& run,
                                 const KeyRun<S>& next, int64_t tile, DecodeState<V>& state) {
  using T = typename V::T;
  constexpr int kVectors = kTileVectors<V>;
  const T* const p = state.s + tile * state.block;
  const T* const rescale = state.rescale + tile;
  T* const o = state.o + tile * state.value_width;
  // The next run's keys, by the first rows alone; not those that are copied first.
  const bool fetches = tile == 0 && state.k == nullptr && next.count >= run.count;
  const S* const ahead = fetches ? next.k : nullptr;
  int64_t c = 0;
  for (; c + kVectors * V::kLanes <= t.dv; c += kVectors * V::kLanes) {
    const S* const fetch = c < t.d && ahead != nullptr ? ahead + c : nullptr;
    AddValueTile<kVectors, false, V, S>(run.count, p, run.v + c, run.v_row, 0, fetch, next.k_row,
                                        rescale, o + c, state.value_width);
  }
  for (; c + V::kLanes <= t.dv; c += V::kLanes) {
    AddValueTile<1, false, V, S>(run.count, p, run.v + c, run.v_row, 0, nullptr, 0, rescale, o + c,
                                 state.value_width);
  }
  if (c == t.dv) return;
  AddValueTile<1, true, V, S>(run.count, p, run.v + c, run.v_row, t.dv - c, nullptr, 0, rescale,
                              o + c, state.value_width);
}

// A weight of 0 does not silence a value that is inf or NaN: pair by pair, where some row does not
// see a value that is not finite. Never reached with ordinary input.
template <class V>
ATTN_INLINE void AddSeenValues(const AttentionDecodeTask<typename V::T>& task,
                               const KeyRun<typename V::T>& run, int64_t tile,
                               DecodeState<V>& state) {
  using T = typename V::T;
  for (int64_t r = tile; r < tile + kTileQueries; ++r) {
    const T* const p = state.s + tile * state.block + r % kTileQueries;
    T* const o = state.o + r * state.value_width;
    for (int64_t c = 0; c < task.head.dv; ++c) o[c] *= state.rescale[r];
    if (task.row_begin + r >= task.row_end) continue;
    for (int64_t m = 0; m < run.count; ++m) {
      if (!RowSees(task, task.row_begin + r, run.begin + m)) continue;
      const T* const v = run.v + m * run.v_row;
      for (int64_t c = 0; c < task.head.dv; ++c) o[c] += p[m * kTileQueries] * v[c];
    }
  }
}

template <class V>
ATTN_INLINE void EnterRows(const AttentionDecodeTask<typename V::T>& task, DecodeState<V>& state) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.head;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const T scale = static_cast<T>(t.scale);
  for (int64_t r = 0; r < state.rows; ++r) {
    const int64_t row = task.row_begin + r;
    const bool real = row < task.row_end;
    const T* const q = t.q + (row % task.group * task.q_head + row / task.group * t.q_row);
    T* const to = state.q + r * state.width;
    for (int64_t c = 0; c < state.width; ++c) {
      to[c] = real && c < t.d ? scale * q[c * t.q_col] : T(0);
    }
    for (int64_t c = 0; c < state.value_width; ++c) state.o[r * state.value_width + c] = 0;
    const T sink = t.sink == nullptr || !real ? -kInf : t.sink[row % task.group * task.sink_head];
    state.max[r] = sink;
    state.sum[r] = sink == -kInf ? T(0) : T(1);
  }
}

// O / sum and LSE = max + log(sum), or for a part both; a row that saw nothing has output 0 and LSE
// -inf.
template <class V>
ATTN_INLINE void LeaveRows(const AttentionDecodeTask<typename V::T>& task, DecodeState<V>& state) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.head;
  const V nothing = V::Set(0);
  for (int64_t r = 0; r < state.rows; r += V::kLanes) {
    const V sum = V::Load(state.sum + r);
    if (task.sum == nullptr) (V::Load(state.max + r) + Log(sum)).Store(state.max + r);
    Select(Equal(sum, nothing), nothing, V::Set(1) / sum).Store(state.rescale + r);
  }
  for (int64_t row = task.row_begin; row < task.row_end; ++row) {
    const int64_t r = row - task.row_begin, h = row % task.group, i = row / task.group;
    T* const o = t.o + (h * task.o_head + i * t.o_row);
    const T* const from = state.o + r * state.value_width;
    for (int64_t c = 0; c < t.dv; ++c) o[c * t.o_col] = from[c] * state.rescale[r];
    const int64_t at = h * task.lse_head + i * t.lse_row;
    if (t.lse != nullptr) t.lse[at] = state.max[r];
    if (task.sum != nullptr) task.sum[at] = state.sum[r];
  }
}

template <class T, class S>
ATTN_INLINE void DecodeAs(const AttentionDecodeTask<T>& task) {
  using V = Vec<T>;
  const AttentionTask<T>& t = task.head;
  DecodeState<V> state;
  LayOut(task, state);
  EnterRows(task, state);
  KeyRun<T> next = RunAt(task, task.key_begin, state.block);
  while (next.count > 0) {
    KeyRun<T> run = next;
    next = RunAt(task, run.begin + run.count, state.block);
    if (state.k != nullptr) {
      CopyBlock(run.k, task.storage, run.k_row, t.k_col, run.count, t.d, state.k, state.width);
      run.k = state.k, run.k_row = state.width;
    }
    if (state.v != nullptr && std::is_same_v<S, T>) {
      CopyBlock(run.v, task.storage, run.v_row, t.v_col, run.count, t.dv, state.v,
                state.value_width);
      run.v = state.v, run.v_row = state.value_width;
    }
    ScoreRun(t, As<S>(run), state);
    KeyRun<T> seen = {};  // with values of T
    bool checked = false, finite = true;
    for (int64_t tile = 0; tile < task.row_end - task.row_begin; tile += kTileQueries) {
      const int64_t row = task.row_begin + tile;
      const TileBand<V> band = BandOf<V>(task, row, run.begin, run.count);
      if (state.bias != nullptr) LoadTileBias<V>(task, row, run.begin, run.count, state.bias);
      WeighTile(t, band, run.count, state.bias, tile, state);
      if (!checked && (!band.whole || state.bias != nullptr)) {
        seen = run;
        if constexpr (!std::is_same_v<S, T>) {
          CopyBlock(run.v, task.storage, run.v_row, 1, run.count, t.dv, state.v, state.value_width);
          seen.v = state.v, seen.v_row = state.value_width;
        }
        finite = AllFinite<V>(seen.v, seen.count, t.dv, seen.v_row, 1);
        checked = true;
      }
      if (finite) {
        AddValuesOfTile(t, As<S>(run), As<S>(next), tile, state);
      } else {
        AddSeenValues(task, seen, tile, state);
      }
    }
  }
  LeaveRows(task, state);
}

template <class T>
void AttentionDecode(const AttentionDecodeTask<T>& task) {
  if constexpr (kWidensInRegisters && sizeof(T) == sizeof(float)) {
    if (Widens(task)) return DecodeAs<T, BF16>(task);
  }
  DecodeAs<T, T>(task);
}
