// SPDX-License-Identifier: Apache-2.0
// Attention of few queries, decoding mostly: bound by memory, so each key and value is read once
// for all query heads of its group, four rows (query and head) at a time, channels in the lanes.
// (Queries in the lanes, as in attention-inl.h, would leave most lanes empty.)
//
// A block of keys is small enough for its keys and values to stay in the first-level cache. While
// its keys are multiplied its values are fetched, and while its values are added the next block's
// keys are, so that memory is never waited for in a burst. S is what keys and values are stored as:
// T, or BF16, which is widened in registers.

constexpr int kTileQueries = 4;  // rows
template <class V>
constexpr int kTileKeys = V::kLanes >= 16 ? 4 : 2;
template <class V>
constexpr int kTileVectors = V::kTileRows >= 8 ? 4 : 2;  // of a value's channels
// Scores of a tile of rows lie [key][row]. One pattern of lanes is a vector, or four rows where a
// vector has fewer lanes.
template <class V>
constexpr int64_t kPattern = V::kLanes > kTileQueries ? V::kLanes : kTileQueries;

ATTN_INLINE constexpr int64_t RoundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Keys of a block: 16 KiB of them in T, at most 128.
template <class V>
ATTN_INLINE int64_t DecodeBlock(int64_t d) {
  constexpr int64_t kElements = (16 << 10) / static_cast<int64_t>(sizeof(typename V::T));
  const int64_t keys = kElements / d / kTileKeys<V> * kTileKeys<V>;
  return keys < 16 ? 16 : keys > 128 ? 128 : keys;
}

template <class V>
struct DecodeState {
  using T = typename V::T;
  int64_t rows, width, value_width, block;  // rows in whole tiles, widths in whole vectors
  T* q;                                     // [rows][width], scaled, zeros beyond d
  T* o;                                     // [rows][value_width]
  T* max;                                   // [rows]
  T* sum;                                   // [rows]
  T* rescale;                               // [rows]
  T* s;     // [rows / kTileQueries][block][kTileQueries]: scores, then weights
  T* bias;  // [block][kTileQueries] of a tile: additive mask, -inf where hidden; null without masks
  T* k;     // [block][width]: keys whose channels are not contiguous, or of f16; null without
  T* v;     // [block][value_width]; where bf16 is widened for values that need a look
};

// Whether keys and values are read as they lie, in registers.
template <class T>
ATTN_INLINE bool Widens(const AttentionDecodeTask<T>& task) {
  return kWidensInRegisters && sizeof(T) == sizeof(float) && task.storage == Storage::kBF16 &&
         task.head.k_col == 1 && task.head.v_col == 1;
}

template <class T>
int64_t LayOut(const AttentionDecodeTask<T>& task, DecodeState<Vec<T>>& state) {
  using V = Vec<T>;
  const AttentionTask<T>& t = task.head;
  state.block = DecodeBlock<V>(t.d);
  state.width = RoundUp(t.d, V::kLanes);
  state.value_width = RoundUp(t.dv, V::kLanes);
  state.rows = RoundUp(task.row_end - task.row_begin, kTileQueries);
  int64_t used = 0;
  const auto take = [&](int64_t elements) {
    T* const at = t.scratch == nullptr ? nullptr : t.scratch + used;
    used += RoundUp(elements, 64 / static_cast<int64_t>(sizeof(T)));
    return at;
  };
  state.q = take(state.rows * state.width);
  state.o = take(state.rows * state.value_width);
  const int64_t vectors = RoundUp(state.rows, V::kLanes);
  state.max = take(vectors);
  state.sum = take(vectors);
  state.rescale = take(vectors);
  state.s = take(state.rows * state.block);
  state.bias = HasMask(t) ? take(state.block * kTileQueries) : nullptr;
  const bool same = task.storage == Storage::kSame;
  const bool reads_keys = Widens(task) || (same && t.k_col == 1);
  state.k = reads_keys ? nullptr : take(state.block * state.width);
  state.v = same && t.v_col == 1 ? nullptr : take(state.block * state.value_width);
  return used;
}

template <class T>
int64_t AttentionDecodeScratch(const AttentionDecodeTask<T>& task) {
  DecodeState<Vec<T>> state;
  return LayOut(task, state);
}

// Lane i: the sum of the lanes of x.row[i].
template <class V>
ATTN_INLINE V SumEach(Square<V> x) {
  ATTN_UNROLL
  for (int half = V::kLanes / 2; half >= 1; half /= 2) {
    ATTN_UNROLL
    for (int i = 0; i < half; ++i) {
      x.row[i] =
          InterleaveLower(x.row[i], x.row[i + half]) + InterleaveUpper(x.row[i], x.row[i + half]);
    }
  }
  return x.row[0];
}

// Some keys and their values, all on one page.
template <class S>
struct KeyRun {
  const S* k;
  const S* v;
  int64_t k_row, v_row;
  int64_t begin, count;
};

template <class S, class T>
ATTN_INLINE KeyRun<S> As(const KeyRun<T>& run) {
  return {reinterpret_cast<const S*>(run.k),
          reinterpret_cast<const S*>(run.v),
          run.k_row,
          run.v_row,
          run.begin,
          run.count};
}

template <class T>
ATTN_INLINE KeyRun<T> RunAt(const AttentionDecodeTask<T>& task, int64_t j, int64_t block) {
  const AttentionTask<T>& t = task.head;
  int64_t count = task.key_end - j < block ? task.key_end - j : block;
  if (count <= 0) return {t.k, t.v, 0, 0, j, 0};
  if (task.page_table == nullptr) {
    return {ElementAt(t.k, j * t.k_row, task.storage),
            ElementAt(t.v, j * t.v_row, task.storage),
            t.k_row,
            t.v_row,
            j,
            count};
  }
  const int64_t slot = j % task.page_size;
  const int64_t page = task.page_table[j / task.page_size * task.page_table_col];
  if (count > task.page_size - slot) count = task.page_size - slot;
  return {ElementAt(t.k, page * task.k_page + slot * t.k_row, task.storage),
          ElementAt(t.v, page * task.v_page + slot * t.v_row, task.storage),
          t.k_row,
          t.v_row,
          j,
          count};
}

// A whole vector, or where kPart the first `count` elements and zeros.
template <bool kPart, class V, class S>
ATTN_INLINE V LoadWhole(const S* x, int64_t count) {
  if constexpr (kPart) return LoadPartFrom<V>(x, count);
  return LoadFrom<V>(x);
}

template <class V>
struct ScoreSums {
  V dot[kTileKeys<V>][kTileQueries];
};

// Channels c and on, a vector of them or fewer.
template <bool kPart, class V, class S>
ATTN_INLINE void AddChannels(const typename V::T* q, int64_t width, int64_t c,
                             const S* const (&key)[kTileKeys<V>], int64_t count,
                             ScoreSums<V>& sums) {
  V row[kTileQueries];
  ATTN_UNROLL
  for (int r = 0; r < kTileQueries; ++r) row[r] = V::Load(q + r * width + c);
  ATTN_UNROLL
  for (int m = 0; m < kTileKeys<V>; ++m) {
    const V x = LoadWhole<kPart, V>(key[m] + c, count);
    ATTN_UNROLL
    for (int r = 0; r < kTileQueries; ++r) sums.dot[m][r] = MulAdd(x, row[r], sums.dot[m][r]);
  }
}

// s[m][r] = q[r] . key[m], and the same channels of `ahead` are fetched.
template <bool kFetch, class V, class S>
ATTN_INLINE void ScoreTile(const typename V::T* q, int64_t width,
                           const S* const (&key)[kTileKeys<V>],
                           const S* const (&ahead)[kTileKeys<V>], int64_t d, typename V::T* s) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(S));
  ScoreSums<V> sums;
  ATTN_UNROLL
  for (int m = 0; m < kTileKeys<V>; ++m) {
    ATTN_UNROLL
    for (int r = 0; r < kTileQueries; ++r) sums.dot[m][r] = V::Set(0);
  }
  int64_t c = 0;
  for (; c + V::kLanes <= d; c += V::kLanes) {
    if (kFetch && c % kLine == 0) {
      ATTN_UNROLL
      for (int m = 0; m < kTileKeys<V>; ++m) __builtin_prefetch(ahead[m] + c);
    }
    AddChannels<false, V>(q, width, c, key, V::kLanes, sums);
  }
  if (c < d) AddChannels<true, V>(q, width, c, key, d - c, sums);
  ATTN_UNROLL
  for (int at = 0; at < kTileKeys<V> * kTileQueries; at += V::kLanes) {
    Square<V> square;
    ATTN_UNROLL
    for (int i = 0; i < V::kLanes; ++i) {
      square.row[i] = sums.dot[(at + i) / kTileQueries][(at + i) % kTileQueries];
    }
    SumEach(square).Store(s + at);
  }
}

// Scores of all rows. Beyond the run's last key it is repeated; WeighTile() hides that.
template <class V, class S>
ATTN_INLINE void ScoreRun(const AttentionTask<typename V::T>& t, const KeyRun<S>& run,
                          DecodeState<V>& state) {
  using T = typename V::T;
  for (int64_t m = 0; m < run.count; m += kTileKeys<V>) {
    const S* key[kTileKeys<V>];
    const S* ahead[kTileKeys<V>];
    ATTN_UNROLL
    for (int i = 0; i < kTileKeys<V>; ++i) {
      const int64_t j = m + i < run.count ? m + i : run.count - 1;
      key[i] = run.k + j * run.k_row;
      ahead[i] = run.v + j * run.v_row;
    }
    T* s = state.s + m * kTileQueries;
    ScoreTile<true, V, S>(state.q, state.width, key, ahead, t.d, s);
    for (int64_t r = kTileQueries; r < state.rows; r += kTileQueries) {
      ScoreTile<false, V, S>(state.q + r * state.width, state.width, key, ahead, t.d,
                             s + r * state.block);
    }
  }
}
