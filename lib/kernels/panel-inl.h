// SPDX-License-Identifier: Apache-2.0
// Rows of a strided matrix to and from a panel, in which they lie in the lanes: squares of
// kLanes x kLanes are transposed in registers, what is left over goes element by element.
// A panel needs this twice, for queries and for outputs, so its share doubles when causal.

template <class V>
struct Square {
  V row[V::kLanes];
};

// log2(kLanes) perfect shuffles of the rows transpose them.
template <class V>
ATTN_INLINE void Transpose(Square<V>& square) {
  constexpr int kHalf = V::kLanes / 2;
  ATTN_UNROLL
  for (int stage = 1; stage < V::kLanes; stage *= 2) {
    Square<V> next;
    ATTN_UNROLL
    for (int i = 0; i < kHalf; ++i) {
      next.row[2 * i] = InterleaveLower(square.row[i], square.row[i + kHalf]);
      next.row[2 * i + 1] = InterleaveUpper(square.row[i], square.row[i + kHalf]);
    }
    square = next;
  }
}

// packed[c][r] = scale * x[r][c]; lanes beyond `rows` hold 0. Unscaled, elements are moved as bits:
// a product would flush pairs of bf16 that look like small floats where a program has set that.
template <class V, bool kScaled = true>
ATTN_INLINE void PackRows(const typename V::T* x, int64_t x_row, int64_t x_col, int64_t rows,
                          int64_t columns, typename V::T scale, typename V::T* packed) {
  using T = typename V::T;
  for (int64_t r0 = 0; r0 < kPanel<V>; r0 += V::kLanes) {
    int64_t c = 0;
    if (x_col == 1 && r0 + V::kLanes <= rows) {
      for (; c + V::kLanes <= columns; c += V::kLanes) {
        const T* from = x + r0 * x_row + c;
        Square<V> square;
        ATTN_UNROLL
        for (int r = 0; r < V::kLanes; ++r) {
          square.row[r] = V::Load(from + r * x_row);
          if constexpr (kScaled) square.row[r] = square.row[r] * V::Set(scale);
        }
        Transpose(square);
        ATTN_UNROLL
        for (int k = 0; k < V::kLanes; ++k) square.row[k].Store(packed + (c + k) * kPanel<V> + r0);
      }
    }
    for (int64_t r = r0; r < r0 + V::kLanes; ++r) {
      const T* row = x + (r < rows ? r : 0) * x_row;
      for (int64_t k = c; k < columns; ++k) {
        const T element = kScaled ? scale * row[k * x_col] : row[k * x_col];
        packed[k * kPanel<V> + r] = r < rows ? element : T(0);
      }
    }
  }
}

// o[r][c] = panel[c][r] * scale[r] for r < rows.
template <class V>
ATTN_INLINE void UnpackRows(const typename V::T* panel, const typename V::T* scale, int64_t rows,
                            int64_t columns, typename V::T* o, int64_t o_row, int64_t o_col) {
  for (int64_t r0 = 0; r0 < rows; r0 += V::kLanes) {
    const int64_t r1 = r0 + V::kLanes < rows ? r0 + V::kLanes : rows;
    int64_t c = 0;
    if (o_col == 1) {
      for (; c + V::kLanes <= columns; c += V::kLanes) {
        Square<V> square;
        ATTN_UNROLL
        for (int k = 0; k < V::kLanes; ++k) {
          square.row[k] = V::Load(panel + (c + k) * kPanel<V> + r0) * V::Load(scale + r0);
        }
        Transpose(square);
        for (int64_t r = r0; r < r1; ++r) square.row[r - r0].Store(o + r * o_row + c);
      }
    }
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t k = c; k < columns; ++k) {
        o[r * o_row + k * o_col] = panel[k * kPanel<V> + r] * scale[r];
      }
    }
  }
}
