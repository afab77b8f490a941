// SPDX-License-Identifier: Apache-2.0
// Vaswani et al. 2017, equation (1); Dao et al. 2022, appendix B.2. A row of scores at a time, over
// visible keys only: what a hidden key or value holds is never read.
#include <cmath>
#include <limits>

#include "math/visibility.h"
#include "reference/kernels.h"

namespace attn::reference {

template <class T>
T Score(const AttentionTask<T>& t, int64_t i, const T* k) {
  T dot = 0;
  for (int64_t c = 0; c < t.d; ++c) dot += t.q[i * t.q_row + c * t.q_col] * k[c * t.k_col];
  const T score = static_cast<T>(t.scale) * dot;
  const T cap = static_cast<T>(t.softcap);
  return cap == 0 ? score : cap * std::tanh(score / cap);
}

template <class T>
T Added(const AttentionTask<T>& t, int64_t i, int64_t j) {
  return t.add == nullptr ? T{0} : t.add[i * t.add_row + j * t.add_col];
}

template <class T>
bool Sees(const AttentionTask<T>& t, int64_t i, int64_t j) {
  if (t.keep != nullptr && t.keep[i * t.keep_row + j * t.keep_col] == 0) return false;
  return Added(t, i, j) != -static_cast<T>(INFINITY);
}

namespace {

template <class T>
T ScoreAt(const AttentionTask<T>& t, int64_t i, int64_t j) {
  return Score(t, i, t.k + j * t.k_row);
}

// P of query i from its LSE, sink last, into p [keys + 1]; whether it sees a key.
// The LSE may be that of more keys than these, when a part of them is differentiated by itself, so
// the weights may add up to less than 1. They cannot add up to more: where they do, LSE was too
// large a number to hold the logarithm of their sum (a penalty of -1e30 on each), and they share
// it.
template <class T>
bool WeightsFromLse(const AttentionTask<T>& t, int64_t i, T* p) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  const T lse = t.lse[i * t.lse_row];
  const int64_t begin = VisibleBegin(i, t.keys, t.low), end = VisibleEnd(i, t.keys, t.high);
  bool sees_any = false;
  T sum = p[t.keys] = t.sink == nullptr || lse == kNone ? T{0} : std::exp(*t.sink - lse);
  for (int64_t j = begin; j < end; ++j) {
    const bool sees = Sees(t, i, j);
    sees_any = sees_any || sees;
    p[j] = sees && lse != kNone ? std::exp(ScoreAt(t, i, j) + Added(t, i, j) - lse) : T{0};
    sum += p[j];
  }
  for (int64_t j = begin; sum > 1 && j < end; ++j) p[j] /= sum;
  if (sum > 1) p[t.keys] /= sum;
  return sees_any;
}

}  // namespace

template <class T>
void Scores(const AttentionTask<T>& t, int64_t i, T* s) {
  const int64_t begin = VisibleBegin(i, t.keys, t.low), end = VisibleEnd(i, t.keys, t.high);
  for (int64_t j = 0; j < t.keys; ++j) {
    const bool sees = begin <= j && j < end && Sees(t, i, j);
    s[j] = sees ? ScoreAt(t, i, j) + Added(t, i, j) : -static_cast<T>(INFINITY);
  }
}

template <class T>
T Weights(const AttentionTask<T>& t, T* s) {
  // The sink is one more score, whose weight is not used.
  if (t.sink != nullptr) s[t.keys] = *t.sink;
  return Softmax(s, t.sink != nullptr ? t.keys + 1 : t.keys);
}

template <class T>
void AttentionForward(const AttentionTask<T>& t) {
  T* p = t.scratch;
  for (int64_t i = t.query_begin; i < t.query_end; ++i) {
    Scores(t, i, p);
    const T lse = Weights(t, p);
    if (t.lse != nullptr) t.lse[i * t.lse_row] = lse;
    const int64_t begin = VisibleBegin(i, t.keys, t.low), end = VisibleEnd(i, t.keys, t.high);
    for (int64_t c = 0; c < t.dv; ++c) {
      T sum = 0;
      for (int64_t j = begin; j < end; ++j) {
        if (Sees(t, i, j)) sum += p[j] * t.v[j * t.v_row + c * t.v_col];
      }
      t.o[i * t.o_row + c * t.o_col] = sum;
    }
  }
}

template <class T>
void AttentionBackward(const AttentionBackwardTask<T>& task) {
  const AttentionTask<T>& t = task.forward;
  const T scale = static_cast<T>(t.scale), cap = static_cast<T>(t.softcap);
  T* p = t.scratch;
  for (int64_t i = t.query_begin; i < t.query_end; ++i) {
    const bool sees_any = WeightsFromLse(t, i, p);
    // D_i = dO_i . O_i, which is sum_j P_ij dP_ij; a row that sees no key has the constant output
    // 0.
    T row_dot = 0;
    for (int64_t c = 0; sees_any && c < t.dv; ++c) {
      row_dot += task.d_o[i * task.d_o_row + c * task.d_o_col] * t.o[i * t.o_row + c * t.o_col];
    }
    const T d_lse = task.d_lse == nullptr ? T{0} : task.d_lse[i * task.d_lse_row];
    if (t.sink != nullptr) *task.d_sink += p[t.keys] * (d_lse - row_dot);

    for (int64_t c = 0; c < t.d; ++c) task.dq[i * task.dq_row + c * task.dq_col] = 0;
    const int64_t begin = VisibleBegin(i, t.keys, t.low), end = VisibleEnd(i, t.keys, t.high);
    for (int64_t j = begin; j < end; ++j) {
      if (!Sees(t, i, j)) continue;
      T dp = 0;
      for (int64_t c = 0; c < t.dv; ++c) {
        const T d_o = task.d_o[i * task.d_o_row + c * task.d_o_col];
        dp += d_o * t.v[j * t.v_row + c * t.v_col];
        task.dv[j * task.dv_row + c * task.dv_col] += p[j] * d_o;
      }
      // c tanh(s / c) has the derivative 1 - tanh^2.
      const T tanh = cap == 0 ? T{0} : ScoreAt(t, i, j) / cap;
      const T ds = scale * p[j] * (dp - row_dot + d_lse) * (1 - tanh * tanh);
      for (int64_t c = 0; c < t.d; ++c) {
        task.dq[i * task.dq_row + c * task.dq_col] += ds * t.k[j * t.k_row + c * t.k_col];
        task.dk[j * task.dk_row + c * task.dk_col] += ds * t.q[i * t.q_row + c * t.q_col];
      }
    }
  }
}

#define ATTN_INSTANTIATE(T)                                      \
  template T Score(const AttentionTask<T>&, int64_t, const T*);  \
  template T Added(const AttentionTask<T>&, int64_t, int64_t);   \
  template bool Sees(const AttentionTask<T>&, int64_t, int64_t); \
  template void Scores(const AttentionTask<T>&, int64_t, T*);    \
  template T Weights(const AttentionTask<T>&, T*);               \
  template void AttentionForward(const AttentionTask<T>&);       \
  template void AttentionBackward(const AttentionBackwardTask<T>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn::reference
