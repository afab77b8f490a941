// SPDX-License-Identifier: Apache-2.0
// What a driver hands to a kernel: plain data, one head, one range of queries. Nothing here has a
// function body, because this file is included by units that are compiled for one instruction set:
// an inline function would be emitted with instructions that other machines lack.
#ifndef ATTN_KERNELS_TASKS_H_
#define ATTN_KERNELS_TASKS_H_

#include <cstdint>

#include "math/half.h"

namespace attn {

// Rows of unit column stride.
template <class T>
struct SoftmaxRowsTask {
  const T* x;
  int64_t x_row;
  T* p;
  int64_t p_row;
  T* lse;  // or null
  int64_t lse_row;
  int64_t rows, columns;
};

// One head: q [Sq][D], k [Sk][D], v [Sk][Dv], o [Sq][Dv], lse [Sq], masks [Sq][Sk], strides in
// elements. The kernel computes rows query_begin <= i < query_end; i counts in the whole head.
// Scores: softcap * tanh(scale * q.k / softcap) + add; key j is hidden from query i where
// j < i + low, j > i + high, keep is 0 or add is -inf.
template <class T>
struct AttentionTask {
  const T* q;
  int64_t q_row, q_col;
  const T* k;
  int64_t k_row, k_col;
  const T* v;
  int64_t v_row, v_col;
  T* o;
  int64_t o_row, o_col;
  T* lse;  // or null
  int64_t lse_row;
  int64_t queries, keys, d, dv;
  int64_t query_begin, query_end;
  int64_t low, high;
  double scale;
  double softcap;       // 0: none
  const uint8_t* keep;  // or null
  int64_t keep_row, keep_col;
  const T* add;  // or null
  int64_t add_row, add_col;
  const T* sink;  // one more logit without a value, or null
  T* scratch;     // KernelTable::*_scratch(task) elements, 64-byte aligned
};

// Attention forward of bf16: `head` without q, k and v. Two channels of a query and of a key, two
// keys of a channel of the values lie in 32 bits, the first in the lower half, zeros where there is
// no second. Queries and values are finite.
struct AttentionBF16Task {
  AttentionTask<float> head;
  int64_t pairs;      // of channels
  const uint32_t* q;  // [query_end][pairs], dense
  const uint32_t* k;  // [keys][pairs]
  int64_t k_row;      // from a key to the next, in pairs
  const uint32_t* v;  // [pairs of keys][dv], dense
};

// c [rows][columns] = or += a [rows][depth] b [depth][columns].
template <class T>
struct MatmulTask {
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row, b_col;
  T* c;
  int64_t c_row, c_col;
  int64_t rows, columns, depth;
  bool add;
  T* scratch;  // KernelTable::matmul_scratch(task) elements, 64-byte aligned
};

// One head of the backward pass; dk and dv are added to (the driver clears them once a group).
template <class T>
struct AttentionBackwardTask {
  AttentionTask<T> forward;  // o is read, lse must be there
  const T* d_o;
  int64_t d_o_row, d_o_col;
  const T* d_lse;  // or null
  int64_t d_lse_row;
  T* dq;
  int64_t dq_row, dq_col;
  T* dk;
  int64_t dk_row, dk_col;
  T* dv;
  int64_t dv_row, dv_col;
  T* d_sink;  // added to, or null
};

// A key/value head against some queries of all query heads that share it. Row r is query r / group
// of head r % group. Key j lies at k + j * k_row, or on a page: page_table[j / page_size], slot
// j % page_size. Where keys are split,
// only the first part is given the sinks, and `sum` is there: `lse` then takes a row's maximum and
// `sum`, which has the same steps, the sum of exp(score - maximum). LSE, rounded, may have lost the
// sum: a penalty of -1e9 on each key.
template <class T>
struct AttentionDecodeTask {
  AttentionTask<T> head;  // the group's first; `keys`, `low` and `high` count all keys
  int64_t group;
  int64_t q_head, o_head, lse_head, keep_head, add_head, sink_head;  // from one head to the next
  int64_t row_begin, row_end;
  int64_t key_begin, key_end;  // of the part at hand
  T* sum;                      // or null
  Storage storage;             // not kSame: k and v point at numbers of 16 bits, counted as such
  const int64_t* page_table;   // or null
  int64_t page_table_col, page_size, k_page, v_page;
};

// Rows that one call of the kernels below takes at most. Each is where its offset says, with unit
// column stride: a driver finds the offsets, so that every layout of rows takes the same path.
constexpr int64_t kRowsAtOnce = 32;

// y = w x / sqrt(mean(x^2) + eps), w [width]; y may be x.
template <class T>
struct RmsNormTask {
  const T* x;
  const int64_t* x_row;
  const T* w;
  T* y;
  const int64_t* y_row;
  int64_t rows, width;
  double eps;
};

// d_x may be d_y.
template <class T>
struct RmsNormBackwardTask {
  const T* x;
  const int64_t* x_row;
  const T* w;
  const T* d_y;
  const int64_t* d_y_row;
  T* d_x;
  const int64_t* d_x_row;
  double* d_w;  // [width], added to
  T* scratch;   // width elements
  int64_t rows, width;
  double eps;
};

// cos and sin [half]: the angles of a row's pairs, to be taken `direction` (1 or -1) times. Pair k
// is (2k, 2k + 1) where interleaved, else (k, k + half); channels from 2 half to width are copied.
// y may be x.
template <class T>
struct RotaryTask {
  const T* x;
  const int64_t* x_row;
  const T* cos;
  const int64_t* cos_row;
  const T* sin;
  const int64_t* sin_row;
  T* y;
  const int64_t* y_row;
  int64_t rows, half, width;
  bool interleaved;
  T direction;
};

// The kernels of one backend for one element type; a null entry means "not supported".
template <class T>
struct KernelTable {
  int64_t lanes;
  int64_t query_tile;  // a driver splits queries at multiples of this
  void (*softmax_rows)(const SoftmaxRowsTask<T>&);
  void (*matmul)(const MatmulTask<T>&);
  int64_t (*matmul_scratch)(const MatmulTask<T>&);
  void (*attention_flash)(const AttentionTask<T>&);
  int64_t (*attention_flash_scratch)(const AttentionTask<T>&);
  void (*attention_explicit)(const AttentionTask<T>&);
  int64_t (*attention_explicit_scratch)(const AttentionTask<T>&);
  void (*attention_decode)(const AttentionDecodeTask<T>&);
  int64_t (*attention_decode_scratch)(const AttentionDecodeTask<T>&);
  void (*attention_backward)(const AttentionBackwardTask<T>&);
  int64_t (*attention_backward_scratch)(const AttentionBackwardTask<T>&);
  void (*rms_norm)(const RmsNormTask<T>&);
  void (*rms_norm_backward)(const RmsNormBackwardTask<T>&);
  void (*rotary)(const RotaryTask<T>&);
};

}  // namespace attn

#endif  // ATTN_KERNELS_TASKS_H_
