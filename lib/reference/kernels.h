// SPDX-License-Identifier: Apache-2.0
// The definitions, in the article's order, one loop a sum: the oracle of every other backend.
#ifndef ATTN_REFERENCE_KERNELS_H_
#define ATTN_REFERENCE_KERNELS_H_

#include "kernels/tasks.h"

namespace attn::reference {

template <class T>
void SoftmaxRows(const SoftmaxRowsTask<T>& task);

// p = softmax(s) over `n` scores, in place; returns LSE. Without a finite or NaN score above
// -inf: weights 0 and LSE -inf.
template <class T>
T Softmax(T* s, int64_t n);

template <class T>
void Matmul(const MatmulTask<T>& task);

// scale * q.k of query i and the key at `k`, after the soft-cap.
template <class T>
T Score(const AttentionTask<T>& task, int64_t i, const T* k);

// The additive mask.
template <class T>
T Added(const AttentionTask<T>& task, int64_t i, int64_t j);

// Whether the masks let query i see key j, which is between the ends of its band.
template <class T>
bool Sees(const AttentionTask<T>& task, int64_t i, int64_t j);

// Scores of query `i` after soft-cap and masks, all `keys` of them: -inf where hidden.
template <class T>
void Scores(const AttentionTask<T>& task, int64_t i, T* s);

// Their softmax, with the sink, in place: s has keys + 1 elements. Returns LSE.
template <class T>
T Weights(const AttentionTask<T>& task, T* s);

template <class T>
void AttentionForward(const AttentionTask<T>& task);

template <class T>
void AttentionDecode(const AttentionDecodeTask<T>& task);

template <class T>
void AttentionBackward(const AttentionBackwardTask<T>& task);

template <class T>
void RmsNorm(const RmsNormTask<T>& task);

template <class T>
void RmsNormBackward(const RmsNormBackwardTask<T>& task);

template <class T>
void Rotary(const RotaryTask<T>& task);

template <class T>
const KernelTable<T>& Table();

}  // namespace attn::reference

#endif  // ATTN_REFERENCE_KERNELS_H_
