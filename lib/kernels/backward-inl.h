// SPDX-License-Identifier: Apache-2.0
// Attention backward (Dao et al. 2022, algorithm 4), a block of queries at a time, outermost, so
// that dQ stays near and dK, dV are added to once a block. For each block of keys:
//   S^T = K Q^T, dP^T = V dO^T          panel by panel, queries in the lanes as in forward
//   P = exp(S - LSE), dS = P (dP - D)   plain vectors
//   dQ^T += K^T dS^T                    panel by panel
//   dV += P^T dO, dK += dS^T Q          over all queries of the block, channels in the lanes
// All five products are one micro-kernel. The sums over queries run through the whole block in
// registers: over one panel they would spend a tenth of the time on loading and storing dK and dV.

// S and dP in, P and dS out.
template <class V>
ATTN_INLINE void Differentiate(const AttentionTask<typename V::T>& t, const QueryPanel<V>& panel,
                               const KeyBlock<V>& keys, typename V::T* p, typename V::T* ds) {
  const V zero = V::Set(0), one = V::Set(1);
  const CapAndBias<V> cap_and_bias(t, keys);
  for (int64_t m = 0; m < keys.keys; ++m) {
    const bool partly = keys.bias != nullptr || m < keys.whole_begin || m >= keys.whole_end;
    ATTN_UNROLL
    for (int n = 0; n < 2; ++n) {
      const int64_t at = m * kPanel<V> + n * V::kLanes;
      V tanh = zero;
      V weight = Weight(panel, cap_and_bias, n, m, V::Load(p + at), tanh);
      V gradient = weight * (V::Load(ds + at) - panel.delta[n]);
      if (cap_and_bias.capped) gradient = gradient * (one - tanh * tanh);
      if (partly) {
        weight = WhereSeen(keys, n, m, weight, zero);
        gradient = WhereSeen(keys, n, m, gradient, zero);
      }
      weight.Store(p + at);
      gradient.Store(ds + at);
    }
  }
}

// A weight of 0 does not silence what is inf or NaN: where something hidden is not finite, products
// are taken pair by pair. Never reached with ordinary input.
template <class V>
ATTN_INLINE void AddWhereSeen(const AttentionBackwardTask<typename V::T>& task,
                              const QueryBlock<V>& block, int64_t index, const KeyBlock<V>& keys,
                              const typename V::T* p, const typename V::T* ds) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.forward;
  const QueryPanel<V>& panel = block.panel[index];
  T* dq = block.dq + index * t.d * kPanel<V>;
  for (int64_t m = 0; m < keys.keys; ++m) {
    const int64_t j = keys.begin + m;
    for (int64_t r = 0; r < panel.rows; ++r) {
      if (!Sees(t, panel.first + r, j)) continue;
      const T weight = p[m * kPanel<V> + r], gradient = ds[m * kPanel<V> + r];
      const T* d_o = task.d_o + (panel.first + r) * task.d_o_row;
      for (int64_t c = 0; c < t.dv; ++c) {
        task.dv[j * task.dv_row + c * task.dv_col] += weight * d_o[c * task.d_o_col];
      }
      const T* q = block.q + index * t.d * kPanel<V> + r;
      for (int64_t c = 0; c < t.d; ++c) {
        task.dk[j * task.dk_row + c * task.dk_col] += gradient * q[c * kPanel<V>];
        dq[c * kPanel<V> + r] += gradient * t.k[j * t.k_row + c * t.k_col];
      }
    }
  }
}

// Keys begin <= j < begin + count against panel `index`: P, dS, and its part of dQ.
template <class V>
ATTN_PART void DifferentiatePanel(const AttentionBackwardTask<typename V::T>& task, int64_t begin,
                                  int64_t count, int64_t index, QueryBlock<V>& block,
                                  Ahead<typename V::T, 4>& ahead) {
  using T = typename V::T;
  const AttentionTask<T>& t = task.forward;
  QueryPanel<V>& panel = block.panel[index];
  // In whole tiles, because the sums over queries go tile by tile of keys.
  constexpr int64_t kRows = V::kTileRows;
  const int64_t last = panel.first + panel.rows - 1;
  const int64_t from = ClampIndex(VisibleBegin(panel.first, t.keys, t.low) - begin, count);
  const int64_t to = ClampIndex(VisibleEnd(last, t.keys, t.high) - begin, count);
  panel.begin = from / kRows * kRows;
  panel.end = from >= to ? panel.begin : ClampIndex((to + kRows - 1) / kRows * kRows, count);
  if (panel.begin == panel.end) return;

  KeyBlock<V> keys;
  keys.bias = block.bias;
  EnterBlock<V>(t, panel.first, panel.rows, begin + panel.begin, panel.end - panel.begin, keys);
  const int64_t at = index * kPanel<V>, scores = at * kBackwardKeys<V> + panel.begin * kPanel<V>;
  T* const p = block.p + scores;
  T* const ds = block.ds + scores;
  const T* k = t.k + keys.begin * t.k_row;
  const T* v = t.v + keys.begin * t.v_row;
  StoreTile<V> to_p = {p, &ahead, keys.begin}, to_ds = {ds, nullptr, 0};
  MultiplyAlongRows<V>(keys.keys, t.d, k, t.k_row, t.k_col, block.q + at * t.d, to_p);
  MultiplyAlongRows<V>(keys.keys, t.dv, v, t.v_row, t.v_col, block.d_o + at * t.dv, to_ds);
  Differentiate(t, panel, keys, p, ds);
  if (SeenByAll(keys) || (panel.finite && HiddenAreFinite<V>(keys, k, t.d, t.k_row, t.k_col))) {
    MergeOutput<V> out = {block.dq + at * t.d, {V::Set(1), V::Set(1)}};
    MultiplyDownColumns<V>(t.d, keys.keys, k, t.k_col, t.k_row, ds, out);
  } else {
    AddWhereSeen(task, block, index, keys, p, ds);
    panel.end = panel.begin;  // no part in the sums over queries
  }
}

template <class T>
int64_t AttentionBackwardScratch(const AttentionBackwardTask<T>& task) {
  using V = Vec<T>;
  const AttentionTask<T>& t = task.forward;
  // Widths are those of outputs, so they are far from overflowing.
  const int64_t rows = 2 * t.d + t.dv + (InPanels<V>(t.d) + InPanels<V>(t.dv)) * kPanel<V>;
  return rows * kQueryBlock<V> + 2 * kBackwardKeys<V> * kQueryBlock<V> +
         kBackwardKeys<V> * kPanel<V>;
}

template <class T>
void AttentionBackward(const AttentionBackwardTask<T>& task) {
  using V = Vec<T>;
  const AttentionTask<T>& t = task.forward;
  constexpr int64_t kQueries = kQueryBlock<V>;
  QueryBlock<V> block;
  block.q = t.scratch;
  block.d_o = block.q + t.d * kQueries;
  block.q_rows = block.d_o + t.dv * kQueries;
  block.d_o_rows = block.q_rows + InPanels<V>(t.d) * kPanel<V> * kQueries;
  block.dq = block.d_o_rows + InPanels<V>(t.dv) * kPanel<V> * kQueries;
  block.p = block.dq + t.d * kQueries;
  block.ds = block.p + kBackwardKeys<V> * kQueries;
  block.bias = HasMask(t) ? block.ds + kBackwardKeys<V> * kQueries : nullptr;
  T scale[kPanel<V>];
  for (int64_t r = 0; r < kPanel<V>; ++r) scale[r] = static_cast<T>(t.scale);

  for (int64_t first = t.query_begin; first < t.query_end; first += kQueries) {
    const int64_t left = t.query_end - first, queries = left < kQueries ? left : kQueries;
    block.panels = InPanels<V>(queries);
    for (int64_t index = 0; index < block.panels; ++index) {
      const int64_t at = index * kPanel<V>, rest = queries - at;
      EnterPanel<V>(task, first + at, rest < kPanel<V> ? rest : kPanel<V>, index, block);
      ShareWeights(task, index, block);
      if (t.sink != nullptr) AddSink(task, block.panel[index]);
    }
    for (int64_t x = 0; x < t.d * block.panels * kPanel<V>; x += V::kLanes) {
      V::Set(0).Store(block.dq + x);
    }
    const int64_t begin = VisibleBegin(first, t.keys, t.low);
    const int64_t end = VisibleEnd(first + queries - 1, t.keys, t.high);
    const int64_t next = left - kQueries;
    Ahead<T, 4> ahead = {.queries = {{t.q, t.q_row, t.q_col, t.d},
                                     {task.d_o, task.d_o_row, task.d_o_col, t.dv},
                                     {t.o, t.o_row, t.o_col, t.dv},
                                     {task.dq, task.dq_row, task.dq_col, t.d}},
                         .keys = {{t.k, t.k_row, t.k_col, t.d},
                                  {t.v, t.v_row, t.v_col, t.dv},
                                  {task.dk, task.dk_row, task.dk_col, t.d},
                                  {task.dv, task.dv_row, task.dv_col, t.dv}},
                         .key_count = t.keys,
                         .first = first + kQueries,
                         .rows = next < 0          ? 0
                                 : next < kQueries ? next
                                                   : kQueries,
                         .end = end,
                         .work = (end - begin) * block.panels,
                         .block = kBackwardKeys<V>};
    for (int64_t j = begin; j < end; j += kBackwardKeys<V>) {
      const int64_t keys = end - j < kBackwardKeys<V> ? end - j : kBackwardKeys<V>;
      for (int64_t index = 0; index < block.panels; ++index) {
        ahead.first_queries = first == t.query_begin && index == 0;
        DifferentiatePanel(task, j, keys, index, block, ahead);
      }
      SumOverQueries(block, keys, block.p, block.d_o_rows, t.dv, task.dv + j * task.dv_row,
                     task.dv_row, task.dv_col);
      SumOverQueries(block, keys, block.ds, block.q_rows, t.d, task.dk + j * task.dk_row,
                     task.dk_row, task.dk_col);
    }
    for (int64_t index = 0; index < block.panels; ++index) {
      const QueryPanel<V>& panel = block.panel[index];
      UnpackRows<V>(block.dq + index * kPanel<V> * t.d, scale, panel.rows, t.d,
                    task.dq + panel.first * task.dq_row, task.dq_row, task.dq_col);
    }
  }
}
