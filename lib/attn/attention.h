// SPDX-License-Identifier: Apache-2.0
// Softmax attention: O = softmax(scale * Q K^T + mask) V, row by row.
// Source: Vaswani et al. 2017, equation (1); backward: Dao et al. 2022 (FlashAttention), B.2.
#ifndef ATTN_ATTENTION_H_
#define ATTN_ATTENTION_H_

#include <optional>

#include "attn/backend.h"
#include "attn/half.h"
#include "attn/mask.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

// T is float, double, BFloat16 or Float16; the last two are computed in f32 (attn/half.h).
// B batch, Hq query heads, Hk key/value heads, Sq queries, Sk keys, D width of a query and a key,
// Dv width of a value. Query head h reads key/value head h / (Hq / Hk).
template <class T>
struct AttentionInputs {
  View<const T, 4> q;  // [B][Hq][Sq][D]
  View<const T, 4> k;  // [B][Hk][Sk][D]
  View<const T, 4> v;  // [B][Hk][Sk][Dv]

  // All of these may be absent. Masks are [B][Hq][Sq][Sk]; an extent of 1 stands for all.
  View<const uint8_t, 4> mask_keep = {};    // 0 hides
  View<const Compute<T>, 4> mask_add = {};  // added to the scores; -inf hides, others do not
  // [Hq]: a logit without a value (Xiao et al. 2023; gpt-oss)
  View<const Compute<T>, 1> sinks = {};
  View<const int64_t, 1> kv_lens = {};  // [B]: how many keys each sequence has, 0 to Sk

  // A cache in pages (Kwon et al. 2023), forward only. Where this is present K is
  // [pages][Hk][page size][D] and V [pages][Hk][page size][Dv]: key j of sequence b lies on page
  // page_table[b][j / page size], slot j % page size, and Sk is the table's second extent times the
  // page size. Entries beyond a sequence's length are not read.
  View<const int64_t, 2> page_table = {};  // [B][pages of a sequence]
};

template <class T>
struct AttentionOutputs {
  View<T, 4> o;                  // [B][Hq][Sq][Dv]
  View<Compute<T>, 3> lse = {};  // [B][Hq][Sq], natural log; may be absent
};

enum class AttentionForm {
  kAuto,      // kDecode for pages and for up to 8 queries where the backend has it, else kFlash
  kFlash,     // keys in blocks with a running maximum and sum: memory O(D) a query
  kExplicit,  // three passes over a full row of scores: memory O(Sk) a query
  kDecode,    // keys in parts that merge, each read once for all query heads of a group
};

struct AttentionOptions {
  std::optional<double> scale;  // absent: 1 / sqrt(D). Zero and negative are ordinary numbers.
  CausalMask causal;            // bottom right of the keys that a sequence has
  Window window;                // combines with causal
  double softcap = 0;           // c tanh(s / c) on the scaled scores (Gemma 2); 0: none
  AttentionForm form = AttentionForm::kAuto;
  int64_t kv_splits = 0;  // parts of the keys in kDecode; 0: one for each 1024 keys, at most 64
};

// Order: scale * q.k -> soft-cap -> additive mask -> causal, window, boolean mask, length ->
// softmax, where a sink joins the maximum and the sum -> weighted sum.
//
// A row that sees no key, or only scores of -inf, has output 0 and LSE -inf (the sink, where there
// is one). What a hidden key or value holds, NaN included, never reaches a result. Any Sq, Sk >= 0,
// any D, Dv >= 1. Outputs must not overlap each other or the inputs.
//
// Errors (outputs untouched): shapes that do not fit, Hq not a multiple of Hk, a tensor without
// data, a page that does not exist, an output with stride 0, a scale or soft-cap that is not finite
// (in T as well), a negative soft-cap or window, a sink that is NaN or +inf, a length outside
// 0..Sk, negative kv_splits, pages with a form that reads contiguous keys, a dtype or form that the
// backend does not support.
template <class T>
Status AttentionForward(const Backend& backend, const AttentionInputs<T>& inputs,
                        const AttentionOptions& options, const AttentionOutputs<T>& outputs);

// What backward needs beside the inputs: the forward results and the gradients of a loss.
template <class T>
struct AttentionUpstream {
  View<const T, 4> o;                    // [B][Hq][Sq][Dv], from forward
  View<const Compute<T>, 3> lse;         // [B][Hq][Sq], from forward
  View<const T, 4> d_o;                  // [B][Hq][Sq][Dv]
  View<const Compute<T>, 3> d_lse = {};  // [B][Hq][Sq]; may be absent
};

template <class T>
struct AttentionGradients {
  View<T, 4> dq;                     // like q
  View<T, 4> dk;                     // like k: summed over the query heads of the group
  View<T, 4> dv;                     // like v
  View<Compute<T>, 1> d_sinks = {};  // [Hq]; present exactly where the sinks are
};

// dV = P^T dO, dP = dO V^T, D_i = dO_i . O_i, dS = P o (dP - D_i + dLSE_i), dQ = scale dS K,
// dK = scale dS^T Q. P is rebuilt from LSE; no Sq x Sk buffer exists. O and LSE may be those of
// more keys than these: the gradients are then this part's (dQ of all parts adds up).
template <class T>
Status AttentionBackward(const Backend& backend, const AttentionInputs<T>& inputs,
                         const AttentionOptions& options, const AttentionUpstream<T>& upstream,
                         const AttentionGradients<T>& gradients);

// For teaching and tests: the scaled, masked scores (hidden places hold -inf) and the weights that
// the forward pass never stores. [B][Hq][Sq][Sk] each; either may be absent. Reference code.
template <class T>
Status AttentionWeights(const View<const T, 4>& q, const View<const T, 4>& k,
                        const AttentionOptions& options, const View<T, 4>& scores,
                        const View<T, 4>& weights);

// Sequences of several lengths without padding, one after the other: sequence s has the queries
// cu_seqlens_q[s] <= i < cu_seqlens_q[s + 1] of Q and O, and keys likewise. All tensors have a
// batch of 1; masks and kv_lens must be absent.
struct PackedSequences {
  View<const int64_t, 1> cu_seqlens_q, cu_seqlens_k;  // [sequences + 1], ascending from 0
};

// Errors beside AttentionForward's: boundaries that do not ascend from 0 to the length.
template <class T>
Status AttentionForwardPacked(const Backend& backend, const AttentionInputs<T>& inputs,
                              const PackedSequences& sequences, const AttentionOptions& options,
                              const AttentionOutputs<T>& outputs);

template <class T>
Status AttentionBackwardPacked(const Backend& backend, const AttentionInputs<T>& inputs,
                               const PackedSequences& sequences, const AttentionOptions& options,
                               const AttentionUpstream<T>& upstream,
                               const AttentionGradients<T>& gradients);

}  // namespace attn

#endif  // ATTN_ATTENTION_H_
