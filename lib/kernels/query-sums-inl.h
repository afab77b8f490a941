// SPDX-License-Identifier: Apache-2.0
// dV += P^T dO and dK += dS^T Q: sums over all queries of a block, channels in the lanes.

// out[j][c] += tile, channels c0 <= c < columns of keys m, m + 1, ...
template <int kRows, class V>
ATTN_INLINE void AddTile(const Tile<kRows, V>& tile, typename V::T* out, int64_t row, int64_t col,
                         int64_t columns) {
  ATTN_UNROLL
  for (int r = 0; r < kRows; ++r) {
    ATTN_UNROLL
    for (int n = 0; n < 2; ++n) {
      typename V::T* at = out + r * row + n * V::kLanes * col;
      const int64_t left = columns - n * V::kLanes;
      if (col == 1 && left >= V::kLanes) {
        (V::Load(at) + tile.c[r][n]).Store(at);
        continue;
      }
      typename V::T sum[V::kLanes];
      tile.c[r][n].Store(sum);
      for (int64_t c = 0; c < V::kLanes && c < left; ++c) at[c * col] += sum[c];
    }
  }
}

// out[j][c] += sum over the block's queries of weights[j][i] rows[i][c], for kRows keys from m on.
template <int kRows, class V>
ATTN_INLINE void SumOverQueries(const QueryBlock<V>& block, const typename V::T* weights,
                                const typename V::T* rows, int64_t m, typename V::T* out,
                                int64_t row, int64_t col, int64_t columns) {
  Tile<kRows, V> tile = ZeroTile<kRows, V>();
  if (col == 1) {
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) __builtin_prefetch(out + (m + r) * row + n * V::kLanes, 1);
    }
  }
  for (int64_t index = 0; index < block.panels; ++index) {
    const QueryPanel<V>& panel = block.panel[index];
    if (m < panel.begin || m >= panel.end) continue;
    const int64_t at = index * kPanel<V>;
    AddProduct<kRows, false>(panel.rows, weights + (at * kBackwardKeys<V> + m * kPanel<V>),
                             kPanel<V>, 1, rows + at * kPanel<V>, tile);
  }
  AddTile(tile, out + m * row, row, col, columns);
}

template <class V>
ATTN_PART void SumOverQueries(const QueryBlock<V>& block, int64_t keys,
                              const typename V::T* weights, const typename V::T* rows,
                              int64_t columns, typename V::T* out, int64_t row, int64_t col) {
  constexpr int kRows = V::kTileRows;
  for (int64_t c = 0; c < columns; c += kPanel<V>) {
    const typename V::T* from = rows + c * kQueryBlock<V>;
    int64_t m = 0;
    for (; m + kRows <= keys; m += kRows) {
      SumOverQueries<kRows>(block, weights, from, m, out + c * col, row, col, columns - c);
    }
    for (; m < keys; ++m) {
      SumOverQueries<1>(block, weights, from, m, out + c * col, row, col, columns - c);
    }
  }
}
