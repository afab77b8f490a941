// SPDX-License-Identifier: Apache-2.0
// The one micro-kernel: C = A B, A read as scalars with any strides, B a packed panel
// [depth][2 vectors]. Queries lie in the lanes, so K and V are never packed: they are broadcast
// from their own layout, and both products of attention are this one.
//
// A tile is kTileRows x 2 vectors of accumulators: 8 x 2 with 32 registers, 6 x 2 with 16, 4 x 2 on
// WebAssembly, whose compilers have no broadcast from memory. Lost: 12x2, 14x2, 16x1, 4x6 on
// AVX-512 (3-10 points of the peak), 4x3 on AVX2 and 6x2, 4x3 on WebAssembly (spills, half speed).

template <class V>
constexpr int64_t kPanel = 2 * V::kLanes;  // queries in a panel

template <int kRows, class V>
struct Tile {
  V c[kRows][2];
};

template <int kRows, class V>
ATTN_INLINE void AddOuterProduct(const typename V::T* a, int64_t a_row, const typename V::T* b,
                                 Tile<kRows, V>& tile) {
  const V b0 = V::Load(b);
  const V b1 = V::Load(b + V::kLanes);
  ATTN_UNROLL
  for (int m = 0; m < kRows; ++m) {
    const V a_m = V::Set(a[m * a_row]);
    tile.c[m][0] = MulAdd(a_m, b0, tile.c[m][0]);
    tile.c[m][1] = MulAdd(a_m, b1, tile.c[m][1]);
  }
}

template <int kRows, class V>
ATTN_INLINE Tile<kRows, V> ZeroTile() {
  Tile<kRows, V> tile;
  ATTN_UNROLL
  for (int m = 0; m < kRows; ++m) tile.c[m][0] = tile.c[m][1] = V::Set(0);
  return tile;
}

// tile += A B for rows of A that begin at a.
template <int kRows, bool kDownColumns, class V>
ATTN_INLINE void AddProduct(int64_t depth, const typename V::T* a, int64_t a_row, int64_t a_col,
                            const typename V::T* b, Tile<kRows, V>& tile) {
  // Several steps at a time natively, so that the row addresses are computed once for all of them:
  // the compiler does not keep kRows pointers. On WebAssembly one: LLVM moves the loads of all
  // steps to the front, and the browser's compiler, which does not schedule, spills them (half the
  // speed).
  constexpr int kSteps = V::kTileSteps;
  int64_t k = 0;
  for (; k + kSteps <= depth; k += kSteps) {
    ATTN_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      // A walk down a column of A touches a cache line a step: 3-5 points at width 128. 16 and 24
      // steps ahead gained nothing, nor did a shorter key block.
      if constexpr (kDownColumns) __builtin_prefetch(a + (step + 8) * a_col);
      AddOuterProduct(a + step * a_col, a_row, b + step * kPanel<V>, tile);
    }
    a += kSteps * a_col;
    b += kSteps * kPanel<V>;
  }
  for (; k < depth; ++k) {
    AddOuterProduct(a, a_row, b, tile);
    a += a_col;
    b += kPanel<V>;
  }
}

template <int kRows, bool kDownColumns, class V>
ATTN_INLINE Tile<kRows, V> MultiplyTile(int64_t depth, const typename V::T* a, int64_t a_row,
                                        int64_t a_col, const typename V::T* b) {
  Tile<kRows, V> tile = ZeroTile<kRows, V>();
  AddProduct<kRows, kDownColumns>(depth, a, a_row, a_col, b, tile);
  return tile;
}

// Calls out(m, tile) for consecutive tiles of the rows of A: whole tiles, then 4, 2, 1; where a
// tile has 4 rows (WebAssembly) single rows follow at once, which keeps the page's module small.
template <class V, bool kDownColumns, class Out>
ATTN_INLINE void MultiplyRows(int64_t rows, int64_t depth, const typename V::T* a, int64_t a_row,
                              int64_t a_col, const typename V::T* b, Out& out) {
  constexpr int kRows = V::kTileRows;
  int64_t m = 0;
  for (; m + kRows <= rows; m += kRows) {
    out(m, MultiplyTile<kRows, kDownColumns, V>(depth, a + m * a_row, a_row, a_col, b));
  }
  if constexpr (kRows > 4) {
    for (; m + 4 <= rows; m += 4) {
      out(m, MultiplyTile<4, kDownColumns, V>(depth, a + m * a_row, a_row, a_col, b));
    }
  }
  if constexpr (kRows > 4) {
    for (; m + 2 <= rows; m += 2) {
      out(m, MultiplyTile<2, kDownColumns, V>(depth, a + m * a_row, a_row, a_col, b));
    }
  }
  for (; m < rows; ++m) {
    out(m, MultiplyTile<1, kDownColumns, V>(depth, a + m * a_row, a_row, a_col, b));
  }
}

// A unit stride known to the compiler leaves one address register a tile instead of one a row.
// Rows that are contiguous (keys, walked along their width):
template <class V, class Out>
ATTN_INLINE void MultiplyAlongRows(int64_t rows, int64_t depth, const typename V::T* a,
                                   int64_t a_row, int64_t a_col, const typename V::T* b, Out& out) {
  if (a_col == 1) {
    MultiplyRows<V, false>(rows, depth, a, a_row, 1, b, out);
  } else {
    MultiplyRows<V, false>(rows, depth, a, a_row, a_col, b, out);
  }
}

// Columns that are contiguous (channels of values, walked from key to key):
template <class V, class Out>
ATTN_INLINE void MultiplyDownColumns(int64_t rows, int64_t depth, const typename V::T* a,
                                     int64_t a_row, int64_t a_col, const typename V::T* b,
                                     Out& out) {
  if (a_row == 1) {
    MultiplyRows<V, true>(rows, depth, a, 1, a_col, b, out);
  } else {
    MultiplyRows<V, false>(rows, depth, a, a_row, a_col, b, out);
  }
}
