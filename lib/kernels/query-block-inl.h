// SPDX-License-Identifier: Apache-2.0
// What backward keeps of a block of queries from key block to key block: Q and dO in both layouts,
// dQ so far, and per query LSE and D = dO.O - dLSE (Dao et al. 2022, appendix B.2).

// Flat between 96 and 192 keys, 64 and 256 queries (a point of the peak, the noise).
template <class V>
constexpr int64_t kBackwardKeys = V::kKeyBlock;
template <class V>
constexpr int64_t kPanels = (V::kKeyBlock > 128 ? 128 : V::kKeyBlock) / kPanel<V>;
template <class V>
constexpr int64_t kQueryBlock = kPanels<V> * kPanel<V>;

template <class V>
struct QueryPanel {
  int64_t first, rows;  // queries
  int64_t begin, end;   // keys of the block at hand that some query may see, in whole tiles
  bool finite;          // Q and dO
  V lse[2];             // +inf where the query saw nothing, so that its weights are 0
  V delta[2];           // dO.O - dLSE
  V share[2];           // what exp(score - LSE) is multiplied by: 1, mostly
};

template <class V>
struct QueryBlock {
  using T = typename V::T;
  T* q;         // [panels][d][panel], scaled: the right side of S^T = K Q^T
  T* d_o;       // [panels][dv][panel]: the right side of dP^T = V dO^T
  T* q_rows;    // [d, in panels][queries][panel], scaled: the right side of dK = dS^T Q
  T* d_o_rows;  // [dv, in panels][queries][panel]: the right side of dV = P^T dO
  T* dq;        // [panels][d][panel]
  T* p;         // [panels][block][panel]: S^T, then P^T
  T* ds;        // [panels][block][panel]: dP^T, then dS^T
  T* bias;      // [block][panel], or null
  int64_t panels;
  QueryPanel<V> panel[kPanels<V>];
};

template <class V>
constexpr int64_t InPanels(int64_t width) {
  return (width + kPanel<V> - 1) / kPanel<V>;
}

// rows[c / panel][at + r][c % panel] = scale * x[r][c], zeros beyond the last column.
template <class V>
ATTN_INLINE void CopyRows(const typename V::T* x, int64_t x_row, int64_t x_col, int64_t count,
                          int64_t columns, typename V::T scale, int64_t at, typename V::T* rows) {
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c0 = 0; c0 < columns; c0 += V::kLanes) {
      const int64_t chunk = c0 / kPanel<V>, lane = c0 % kPanel<V>;
      typename V::T* to = rows + (chunk * kQueryBlock<V> + at + r) * kPanel<V> + lane;
      const typename V::T* from = x + r * x_row + c0 * x_col;
      if (x_col == 1 && c0 + V::kLanes <= columns) {
        (V::Load(from) * V::Set(scale)).Store(to);
        continue;
      }
      for (int64_t c = 0; c < V::kLanes; ++c)
        to[c] = c0 + c < columns ? from[c * x_col] * scale : 0;
    }
    // The last panel's second vector, where the columns end before it.
    const int64_t lane = (columns - 1) % kPanel<V>;
    if (lane >= V::kLanes) continue;
    V::Set(0).Store(rows + (columns / kPanel<V> * kQueryBlock<V> + at + r) * kPanel<V> + V::kLanes);
  }
}

template <class V>
ATTN_INLINE typename V::T RowDot(const typename V::T* a, int64_t a_col, const typename V::T* b,
                                 int64_t b_col, int64_t count) {
  V sum = V::Set(0);
  typename V::T rest = 0;
  int64_t c = 0;
  if (a_col == 1 && b_col == 1) {
    for (; c + V::kLanes <= count; c += V::kLanes)
      sum = MulAdd(V::Load(a + c), V::Load(b + c), sum);
  }
  for (; c < count; ++c) rest += a[c * a_col] * b[c * b_col];
  return ReduceSum(sum) + rest;
}

template <class T>
ATTN_INLINE bool Sees(const AttentionTask<T>& t, int64_t i, int64_t j) {
  if (j < VisibleBegin(i, t.keys, t.low) || j >= VisibleEnd(i, t.keys, t.high)) return false;
  if (t.keep != nullptr && t.keep[i * t.keep_row + j * t.keep_col] == 0) return false;
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  return t.add == nullptr || t.add[i * t.add_row + j * t.add_col] != kHidden;
}

// D_i = dO_i . O_i = sum_j P_ij dP_ij. A row that sees no key has the constant output 0, whatever
// dO holds there.
template <class V>
ATTN_INLINE typename V::T OutputDot(const AttentionBackwardTask<typename V::T>& task, int64_t i) {
  const AttentionTask<typename V::T>& t = task.forward;
  const auto dot =
      RowDot<V>(task.d_o + i * task.d_o_row, task.d_o_col, t.o + i * t.o_row, t.o_col, t.dv);
  if (dot * 0 == 0) return dot;
  for (int64_t j = 0; j < t.keys; ++j) {
    if (Sees(t, i, j)) return dot;
  }
  return 0;
}

// Fills everything but dq, p and ds for queries first <= i < first + rows of panel `index`.
template <class V>
ATTN_INLINE void EnterPanel(const AttentionBackwardTask<typename V::T>& task, int64_t first,
                            int64_t rows, int64_t index, QueryBlock<V>& block) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.forward;
  QueryPanel<V>& panel = block.panel[index];
  panel.first = first, panel.rows = rows;
  const T scale = static_cast<T>(t.scale);
  const T* q = t.q + first * t.q_row;
  const T* d_o = task.d_o + first * task.d_o_row;
  const int64_t at = index * kPanel<V>;
  PackRows<V>(q, t.q_row, t.q_col, rows, t.d, scale, block.q + at * t.d);
  PackRows<V>(d_o, task.d_o_row, task.d_o_col, rows, t.dv, T(1), block.d_o + at * t.dv);
  CopyRows<V>(q, t.q_row, t.q_col, rows, t.d, scale, at, block.q_rows);
  CopyRows<V>(d_o, task.d_o_row, task.d_o_col, rows, t.dv, T(1), at, block.d_o_rows);
  panel.finite = AllFinite<V>(block.q + at * t.d, t.d, kPanel<V>, kPanel<V>, 1) &&
                 AllFinite<V>(block.d_o + at * t.dv, t.dv, kPanel<V>, kPanel<V>, 1);

  constexpr T kInf = std::numeric_limits<T>::infinity();
  T lse[kPanel<V>], delta[kPanel<V>];
  for (int64_t r = 0; r < kPanel<V>; ++r) {
    const int64_t i = first + (r < rows ? r : 0);
    const T value = t.lse[i * t.lse_row];
    lse[r] = value == -kInf ? kInf : value;
    delta[r] =
        OutputDot<V>(task, i) - (task.d_lse == nullptr ? T(0) : task.d_lse[i * task.d_lse_row]);
  }
  for (int n = 0; n < 2; ++n) {
    panel.lse[n] = V::Load(lse + n * V::kLanes);
    panel.delta[n] = V::Load(delta + n * V::kLanes);
    panel.share[n] = V::Set(1);
  }
}
