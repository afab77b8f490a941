// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings. Both pairings are y = x cos + other sin, where `other` is the pair's other
// channel and sin has the sign of its place; with the same roundings, so the same bits.

template <class V>
struct Turn {
  V cos, sin;
};

// n <= kLanes pairs; direction -1 turns backwards.
template <class V>
ATTN_INLINE Turn<V> LoadTurn(const typename V::T* cos, const typename V::T* sin, V direction,
                             int64_t n) {
  return {LoadUpTo<V>(cos, n), LoadUpTo<V>(sin, n) * direction};
}

// Pairs (k, k + half), n <= kLanes of them.
template <class V>
ATTN_INLINE void TurnHalves(const typename V::T* x, int64_t half, const Turn<V>& turn, int64_t n,
                            typename V::T* y) {
  const V x1 = LoadUpTo<V>(x, n), x2 = LoadUpTo<V>(x + half, n);
  StoreUpTo(MulAdd(x1, turn.cos, x2 * (V::Set(0) - turn.sin)), y, n);
  StoreUpTo(MulAdd(x2, turn.cos, x1 * turn.sin), y + half, n);
}

// Pairs (2k, 2k + 1), n <= kLanes of them, so up to two vectors of channels.
template <class V>
ATTN_INLINE void TurnNeighbours(const typename V::T* x, const Turn<V>& turn, int64_t n,
                                typename V::T* y) {
  const V minus = V::Set(0) - turn.sin;
  const int64_t lower = 2 * n < V::kLanes ? 2 * n : V::kLanes, upper = 2 * n - lower;
  const V x1 = LoadUpTo<V>(x, lower);
  const V y1 = MulAdd(x1, InterleaveLower(turn.cos, turn.cos),
                      SwapPairs(x1) * InterleaveLower(minus, turn.sin));
  if (upper != 0) {
    const V x2 = LoadUpTo<V>(x + V::kLanes, upper);
    const V y2 = MulAdd(x2, InterleaveUpper(turn.cos, turn.cos),
                        SwapPairs(x2) * InterleaveUpper(minus, turn.sin));
    StoreUpTo(y2, y + V::kLanes, upper);
  }
  StoreUpTo(y1, y, lower);
}

template <class V>
ATTN_INLINE void TurnPairs(bool interleaved, const typename V::T* x, int64_t k, int64_t half,
                           const Turn<V>& turn, int64_t n, typename V::T* y) {
  if (interleaved) return TurnNeighbours(x + 2 * k, turn, n, y + 2 * k);
  TurnHalves(x + k, half, turn, n, y + k);
}

template <class T>
void Rotary(const RotaryTask<T>& t) {
  using V = Vec<T>;
  const V direction = V::Set(t.direction);
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    const T* const cos = t.cos + t.cos_row[r];
    const T* const sin = t.sin + t.sin_row[r];
    T* const y = t.y + t.y_row[r];
    int64_t k = 0;
    for (; t.half - k >= V::kLanes; k += V::kLanes) {
      const Turn<V> turn = LoadTurn(cos + k, sin + k, direction, V::kLanes);
      TurnPairs(t.interleaved, x, k, t.half, turn, V::kLanes, y);
    }
    if (k < t.half) {
      const int64_t n = t.half - k;
      TurnPairs(t.interleaved, x, k, t.half, LoadTurn(cos + k, sin + k, direction, n), n, y);
    }
    if (x == y) continue;
    int64_t c = 2 * t.half;
    for (; t.width - c >= V::kLanes; c += V::kLanes) V::Load(x + c).Store(y + c);
    for (; c < t.width; ++c) y[c] = x[c];
  }
}
