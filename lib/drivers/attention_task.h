// SPDX-License-Identifier: Apache-2.0
// What the drivers of softmax attention share: checks of shapes and options, and the task of a
// head.
#ifndef ATTN_DRIVERS_ATTENTION_TASK_H_
#define ATTN_DRIVERS_ATTENTION_TASK_H_

#include <cmath>

#include "attn/attention.h"
#include "drivers/page_only.h"
#include "kernels/tasks.h"

namespace attn {

// Queries of an item of work. A row's bits do not depend on it (kernels/attention-inl.h).
constexpr int64_t kItemQueries = 256;

template <size_t kRank>
Status CheckShape(const char* what, const Shape<kRank>& got, const Shape<kRank>& want) {
  for (size_t i = 0; i < kRank; ++i) {
    if (got[i] != want[i]) {
      return InvalidArgument(what, ": axis ", static_cast<int64_t>(i), " has extent ", got[i],
                             ", needed is ", want[i]);
    }
  }
  return {};
}

template <class T, size_t kRank>
Status CheckGiven(const char* what, const View<T, kRank>& view, const Shape<kRank>& want) {
  ATTN_RETURN_IF_ERROR(CheckShape(what, view.shape, want));
  return CheckInput(what, view).status();
}

template <class T, size_t kRank>
Status CheckResult(const char* what, const View<T, kRank>& view, const Shape<kRank>& want) {
  ATTN_RETURN_IF_ERROR(CheckShape(what, view.shape, want));
  return CheckOutput(what, view);
}

// Q, K and the options: what scores need.
template <class T>
Status CheckQueriesKeys(const View<const T, 4>& q, const View<const T, 4>& k,
                        const AttentionOptions& options);

// Everything that forward reads.
template <class T>
Status CheckInputs(const AttentionInputs<T>& in, const AttentionOptions& options);

template <class T>
bool Paged(const AttentionInputs<T>& in) {
  return !kPageOnly && in.page_table.present();
}

// How many keys a sequence has room for.
template <class T>
int64_t KeyCapacity(const AttentionInputs<T>& in) {
  return Paged(in) ? in.page_table.shape[1] * in.k.shape[2] : in.k.shape[2];
}

// Multiplications and additions of forward, hidden pairs included.
template <class T>
double ForwardWork(const AttentionInputs<T>& in) {
  const Shape<4>& q = in.q.shape;
  return 2.0 * static_cast<double>(q[0] * q[1] * q[2]) * static_cast<double>(KeyCapacity(in)) *
         static_cast<double>(q[3] + in.v.shape[3]);
}

// AttentionForward in the form kDecode, after its checks. Where K and V are stored in 16 bits their
// views have the wrong type and the right strides.
template <class T>
Status DecodeForward(const Backend& backend, const AttentionInputs<T>& in,
                     const AttentionOptions& options, const AttentionOutputs<T>& out,
                     Storage storage = Storage::kSame);

// Both directions on tensors of 16 bits, after the checks.
template <class S>
Status ForwardHalf(const Backend& backend, const AttentionInputs<S>& in,
                   const AttentionOptions& options, AttentionForm form,
                   const AttentionOutputs<S>& out);
template <class S>
Status BackwardHalf(const Backend& backend, const AttentionInputs<S>& in,
                    const AttentionOptions& options, const AttentionUpstream<S>& up,
                    const AttentionGradients<S>& grad);

// Everything that backward reads and writes.
template <class T>
Status CheckBackward(const AttentionInputs<T>& in, const AttentionOptions& options,
                     const AttentionUpstream<T>& up, const AttentionGradients<T>& grad);

template <class T>
T* At(const View<T, 4>& view, int64_t b, int64_t h) {
  return view.data + b * view.strides[0] + h * view.strides[1];
}

// The sizes, strides and options that all heads share; `o` and `lse` are left to the caller.
// Kernels size their scratch from it: its `keys` are the most that any sequence has.
template <class T>
AttentionTask<T> SharedTask(const AttentionInputs<T>& in, const AttentionOptions& options);

// Points the task at head h of sequence b.
template <class T>
void PointAtHead(const AttentionInputs<T>& in, const AttentionOptions& options, int64_t b,
                 int64_t h, AttentionTask<T>& task);

inline Status NoScratch(int64_t elements) {
  return Status(StatusCode::kOutOfMemory, Message("scratch of ", elements, " elements"));
}

}  // namespace attn

#endif  // ATTN_DRIVERS_ATTENTION_TASK_H_
