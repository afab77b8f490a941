// SPDX-License-Identifier: Apache-2.0
// C = A B after Goto and van de Geijn 2008: a block of B's depth and columns is packed into panels
// (it stays in the second-level cache), then some rows of A at a time; a panel and these rows stay
// in the first-level cache, also where the rows of A lie a multiple of 4 KiB apart and would share
// its sets: without packing A, 1024^3 ran at 68 % of the peak and 2048^3 at 40 % (AVX-512).

template <class T>
constexpr int64_t kProductDepth = 512 / static_cast<int64_t>(sizeof(T));  // 128 f32, 64 f64
constexpr int64_t kProductRows = 48;  // whole tiles of 8 and of 6
constexpr int64_t kProductColumns = 1024;

// packed[k][n] = b[k][n] for n < columns, else 0.
template <class V>
ATTN_INLINE void PackPanel(const MatmulTask<typename V::T>& t, int64_t k0, int64_t depth,
                           int64_t n0, int64_t columns, typename V::T* packed) {
  using T = typename V::T;
  const T* const b = t.b + (k0 * t.b_row + n0 * t.b_col);
  if (t.b_col != 1) return PackRows<V>(b, t.b_col, t.b_row, columns, depth, T(1), packed);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t n = 0; n < kPanel<V>; n += V::kLanes) {
      const T* const from = b + k * t.b_row + n;
      const int64_t left = columns - n;
      const V row = left >= V::kLanes ? V::Load(from)
                    : left > 0        ? V::LoadPart(from, left, T(0))
                                      : V::Set(0);
      row.Store(packed + k * kPanel<V> + n);
    }
  }
}

template <class V>
struct StoreProduct {
  typename V::T* c;
  int64_t c_row, c_col, columns;
  bool add;

  template <int kRows>
  ATTN_INLINE void operator()(int64_t m, const Tile<kRows, V>& tile) {
    ATTN_UNROLL
    for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL
      for (int n = 0; n < 2; ++n) {
        typename V::T* const at = c + (m + r) * c_row + n * V::kLanes * c_col;
        const int64_t left = columns - n * V::kLanes;
        if (c_col == 1 && left >= V::kLanes) {
          (add ? V::Load(at) + tile.c[r][n] : tile.c[r][n]).Store(at);
          continue;
        }
        typename V::T lanes[V::kLanes];
        tile.c[r][n].Store(lanes);
        for (int64_t i = 0; i < V::kLanes && i < left; ++i) {
          at[i * c_col] = add ? at[i * c_col] + lanes[i] : lanes[i];
        }
      }
    }
  }
};

// packed[m][k] = a[m][k].
template <class V>
ATTN_INLINE void PackFactor(const typename V::T* a, int64_t row, int64_t col, int64_t rows,
                            int64_t depth, typename V::T* packed) {
  for (int64_t m = 0; m < rows; ++m) {
    int64_t k = 0;
    for (; col == 1 && k + V::kLanes <= depth; k += V::kLanes) {
      V::Load(a + m * row + k).Store(packed + m * depth + k);
    }
    for (; k < depth; ++k) packed[m * depth + k] = a[m * row + k * col];
  }
}

template <class T>
int64_t MatmulScratch(const MatmulTask<T>& t) {
  const int64_t columns = t.columns < kProductColumns ? t.columns : kProductColumns;
  return kProductDepth<T> * (RoundUp(columns, kPanel<Vec<T>>) + kProductRows);
}

// Columns n0 <= n < n0 + columns, depth k0 <= k < k0 + depth.
template <class V>
ATTN_INLINE void AddBlock(const MatmulTask<typename V::T>& t, int64_t k0, int64_t depth, int64_t n0,
                          int64_t columns) {
  using T = typename V::T;
  T* const rows_of_a = t.scratch;
  T* const panels = rows_of_a + kProductRows * kProductDepth<T>;
  for (int64_t n = 0; n < columns; n += kPanel<V>) {
    const int64_t rest = columns - n;
    PackPanel<V>(t, k0, depth, n0 + n, rest < kPanel<V> ? rest : kPanel<V>, panels + n * depth);
  }
  for (int64_t m = 0; m < t.rows; m += kProductRows) {
    const int64_t left = t.rows - m, rows = left < kProductRows ? left : kProductRows;
    PackFactor<V>(t.a + (m * t.a_row + k0 * t.a_col), t.a_row, t.a_col, rows, depth, rows_of_a);
    for (int64_t n = 0; n < columns; n += kPanel<V>) {
      T* const c = t.c + (m * t.c_row + (n0 + n) * t.c_col);
      StoreProduct<V> out = {c, t.c_row, t.c_col, columns - n, t.add || k0 > 0};
      MultiplyRows<V, false>(rows, depth, rows_of_a, depth, 1, panels + n * depth, out);
    }
  }
}

template <class T>
void Matmul(const MatmulTask<T>& t) {
  using V = Vec<T>;
  for (int64_t n0 = 0; n0 < t.columns; n0 += kProductColumns) {
    const int64_t rest = t.columns - n0, columns = rest < kProductColumns ? rest : kProductColumns;
    // Once for an empty depth, so that C is set.
    for (int64_t k0 = 0; k0 == 0 || k0 < t.depth; k0 += kProductDepth<T>) {
      const int64_t left = t.depth - k0;
      AddBlock<V>(t, k0, left < kProductDepth<T> ? left : kProductDepth<T>, n0, columns);
    }
  }
}
