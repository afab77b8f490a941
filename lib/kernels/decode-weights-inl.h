// SPDX-License-Identifier: Apache-2.0
// Decoding between its two products: masks, maxima, exponentials and sums of a run's scores.

// Whether row r sees key j.
template <class T>
ATTN_INLINE bool RowSees(const AttentionDecodeTask<T>& task, int64_t row, int64_t j) {
  AttentionTask<T> t = task.head;
  const int64_t h = row % task.group;
  if (t.keep != nullptr) t.keep += h * task.keep_head;
  if (t.add != nullptr) t.add += h * task.add_head;
  return Sees(t, row / task.group, j);
}

// Additive mask of four rows from `row` on, -inf where a mask hides and beyond the last key.
template <class V>
ATTN_INLINE void LoadTileBias(const AttentionDecodeTask<typename V::T>& task, int64_t row,
                              int64_t begin, int64_t keys, typename V::T* bias) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.head;
  for (int64_t r = 0; r < kTileQueries; ++r) {
    const int64_t at = row + r < task.row_end ? row + r : task.row_end - 1;
    const int64_t i = at / task.group, h = at % task.group;
    const uint8_t* keep =
        t.keep == nullptr ? nullptr : t.keep + (h * task.keep_head + i * t.keep_row);
    const T* add = t.add == nullptr ? nullptr : t.add + (h * task.add_head + i * t.add_row);
    for (int64_t m = 0; m < keys; ++m) {
      const bool kept = keep == nullptr || keep[(begin + m) * t.keep_col] != 0;
      const T added = add == nullptr ? T(0) : add[(begin + m) * t.add_col];
      bias[m * kTileQueries + r] = kept ? added : -std::numeric_limits<T>::infinity();
    }
    for (int64_t m = keys; m < RoundUp(keys, kTileKeys<V>); ++m) {
      bias[m * kTileQueries + r] = -std::numeric_limits<T>::infinity();
    }
  }
}

// Which keys of a run four rows see by their position: for each lane of a pattern, keys m (that of
// the pattern's first lane) where !(m < lower) && m < upper.
template <class V>
struct TileBand {
  using T = typename V::T;
  T lower[kPattern<V>], upper[kPattern<V>];
  bool whole;  // all rows see all keys
};

template <class V>
ATTN_INLINE TileBand<V> BandOf(const AttentionDecodeTask<typename V::T>& task, int64_t row,
                               int64_t begin, int64_t keys) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.head;
  TileBand<V> band;
  band.whole = keys % kTileKeys<V> == 0;
  for (int64_t r = 0; r < kTileQueries; ++r) {
    const int64_t at = row + r < task.row_end ? row + r : task.row_end - 1;
    const int64_t i = at / task.group;
    // Clamped to the run, so exact in T.
    const int64_t from = ClampIndex(VisibleBegin(i, t.keys, t.low) - begin, keys);
    const int64_t to = ClampIndex(VisibleEnd(i, t.keys, t.high) - begin, keys);
    band.whole = band.whole && from == 0 && to == keys;
    for (int64_t lane = r; lane < kPattern<V>; lane += kTileQueries) {
      band.lower[lane] = static_cast<T>(from - lane / kTileQueries);
      band.upper[lane] = static_cast<T>(to - lane / kTileQueries);
    }
  }
  return band;
}

// Scores of four rows to weights exp(score - max), their maximum and sum carried on. `n` elements.
template <class V>
ATTN_INLINE void WeighTile(const AttentionTask<typename V::T>& t, const TileBand<V>& band,
                           int64_t keys, const typename V::T* bias, int64_t tile,
                           DecodeState<V>& state) {
  using T = typename V::T;
  constexpr int64_t kStep = kPattern<V>;
  constexpr int kVectors = static_cast<int>(kStep / V::kLanes);
  constexpr T kInf = std::numeric_limits<T>::infinity();
  T* const s = state.s + tile * state.block;
  const int64_t n = RoundUp(keys, kTileKeys<V>) * kTileQueries;
  const bool plain = band.whole && bias == nullptr && t.softcap == 0;
  const V cap = V::Set(static_cast<T>(t.softcap)), inverse = V::Set(static_cast<T>(1 / t.softcap));
  const V hidden = V::Set(-kInf);
  V fold[kVectors];
  ATTN_UNROLL
  for (int v = 0; v < kVectors; ++v) fold[v] = hidden;
  for (int64_t x = 0; x < n; x += kStep) {
    ATTN_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      T* const at = s + x + v * V::kLanes;
      V score = V::Load(at);
      if (!plain) {
        if (t.softcap != 0) score = cap * Tanh(score * inverse);
        const V m = V::Set(static_cast<T>(x / kTileQueries));
        score = Select(Less(m, V::Load(band.upper + v * V::kLanes)), score, hidden);
        score = Select(Less(m, V::Load(band.lower + v * V::kLanes)), hidden, score);
        if (bias != nullptr) {
          const V added = V::Load(bias + x + v * V::kLanes);
          score = Select(Equal(added, hidden), hidden, score + added);
        }
        score.Store(at);
      }
      fold[v] = Max(fold[v], score);
    }
  }
  T lanes[kStep], shift[kStep], old[kStep];
  ATTN_UNROLL
  for (int v = 0; v < kVectors; ++v) fold[v].Store(lanes + v * V::kLanes);
  for (int64_t r = 0; r < kTileQueries; ++r) {
    T max = state.max[tile + r];
    const T before = max;
    for (int64_t x = r; x < kStep; x += kTileQueries) max = lanes[x] > max ? lanes[x] : max;
    state.max[tile + r] = max;
    // While a row has seen nothing its maximum is -inf, and -inf - -inf would be NaN.
    for (int64_t x = r; x < kStep; x += kTileQueries) {
      shift[x] = max == -kInf ? T(0) : max;
      old[x] = before;
    }
  }
  V sum[kVectors];
  ATTN_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const int at = v * static_cast<int>(V::kLanes);
    Exp(V::Load(old + at) - V::Load(shift + at)).Store(old + at);
    sum[v] = V::Set(0);
  }
  for (int64_t x = 0; x < n; x += kStep) {
    ATTN_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      T* const at = s + x + v * V::kLanes;
      const V p = Exp(V::Load(at) - V::Load(shift + v * V::kLanes));
      p.Store(at);
      sum[v] = sum[v] + p;
    }
  }
  ATTN_UNROLL
  for (int v = 0; v < kVectors; ++v) sum[v].Store(lanes + v * V::kLanes);
  for (int64_t r = 0; r < kTileQueries; ++r) {
    T all = 0;
    for (int64_t x = r; x < kStep; x += kTileQueries) all += lanes[x];
    state.rescale[tile + r] = old[r];
    state.sum[tile + r] = state.sum[tile + r] * old[r] + all;
  }
}
