// SPDX-License-Identifier: Apache-2.0
// Sequences of several lengths: each is a problem of its own, a view into the packed tensors.
#include "drivers/attention_task.h"
#include "drivers/scratch.h"

namespace attn {
namespace {

template <class T>
Status CheckBoundaries(const char* what, const View<const int64_t, 1>& at, const char* tensor,
                       const View<const T, 4>& packed) {
  if (packed.shape[0] != 1) {
    return InvalidArgument(tensor, " has batch ", packed.shape[0], ", packed sequences have 1");
  }
  if (auto n = CheckInput(what, at); !n.ok()) return n.status();
  const int64_t last = at.shape[0] - 1;
  if (last < 0) return InvalidArgument(what, " is empty, at least its 0 is needed");
  if (at(0) != 0) return InvalidArgument(what, "[0] is ", at(0), ", needed is 0");
  for (int64_t s = 0; s < last; ++s) {
    if (at(s + 1) < at(s)) {
      return InvalidArgument(what, "[", s + 1, "] is ", at(s + 1), ", below ", at(s), " before it");
    }
  }
  if (at(last) != packed.shape[2]) {
    return InvalidArgument(what, "[", last, "] is ", at(last), ", ", tensor, " has length ",
                           packed.shape[2]);
  }
  return {};
}

template <class T>
Status CheckPacked(const AttentionInputs<T>& in, const PackedSequences& s) {
  ATTN_RETURN_IF_ERROR(CheckBoundaries("cu_seqlens_q", s.cu_seqlens_q, "Q", in.q));
  ATTN_RETURN_IF_ERROR(CheckBoundaries("cu_seqlens_k", s.cu_seqlens_k, "K", in.k));
  if (s.cu_seqlens_q.shape[0] != s.cu_seqlens_k.shape[0]) {
    return InvalidArgument("cu_seqlens_q has ", s.cu_seqlens_q.shape[0], " entries, cu_seqlens_k ",
                           s.cu_seqlens_k.shape[0]);
  }
  if (in.mask_keep.present() || in.mask_add.present() || in.kv_lens.present() || Paged(in)) {
    return InvalidArgument("packed sequences take no masks, kv_lens or page_table");
  }
  return {};
}

// Positions begin <= i < end along `axis`.
template <class T, size_t kRank>
View<T, kRank> Slice(View<T, kRank> view, size_t axis, int64_t begin, int64_t end) {
  if (view.present()) view.data += begin * view.strides[axis];
  view.shape[axis] = end - begin;
  return view;
}

// One sequence's part of everything.
struct Part {
  int64_t q0, q1, k0, k1;

  Part(const PackedSequences& s, int64_t i)
      : q0(s.cu_seqlens_q(i)),
        q1(s.cu_seqlens_q(i + 1)),
        k0(s.cu_seqlens_k(i)),
        k1(s.cu_seqlens_k(i + 1)) {}

  template <class View>
  View Queries(const View& view) const {
    return Slice(view, 2, q0, q1);
  }
  template <class View>
  View Keys(const View& view) const {
    return Slice(view, 2, k0, k1);
  }
  template <class T>
  AttentionInputs<T> Inputs(const AttentionInputs<T>& in) const {
    AttentionInputs<T> part = {Queries(in.q), Keys(in.k), Keys(in.v)};
    part.sinks = in.sinks;
    return part;
  }
};

}  // namespace

template <class T>
Status AttentionForwardPacked(const Backend& backend, const AttentionInputs<T>& in,
                              const PackedSequences& sequences, const AttentionOptions& options,
                              const AttentionOutputs<T>& out) {
  ATTN_RETURN_IF_ERROR(CheckInputs(in, options));
  ATTN_RETURN_IF_ERROR(CheckPacked(in, sequences));
  const auto [batch, heads, queries, d] = in.q.shape;
  ATTN_RETURN_IF_ERROR(CheckResult("O", out.o, {batch, heads, queries, in.v.shape[3]}));
  ATTN_RETURN_IF_ERROR(CheckOptional("LSE", out.lse));
  if (out.lse.present()) {
    ATTN_RETURN_IF_ERROR(CheckResult("LSE", out.lse, {batch, heads, queries}));
  }
  for (int64_t i = 0; i + 1 < sequences.cu_seqlens_q.shape[0]; ++i) {
    const Part part(sequences, i);
    ATTN_RETURN_IF_ERROR(AttentionForward(backend, part.Inputs(in), options,
                                          {part.Queries(out.o), part.Queries(out.lse)}));
  }
  return {};
}

template <class T>
Status AttentionBackwardPacked(const Backend& backend, const AttentionInputs<T>& in,
                               const PackedSequences& sequences, const AttentionOptions& options,
                               const AttentionUpstream<T>& up, const AttentionGradients<T>& grad) {
  ATTN_RETURN_IF_ERROR(CheckBackward(in, options, up, grad));
  ATTN_RETURN_IF_ERROR(CheckPacked(in, sequences));
  const int64_t heads = grad.d_sinks.present() ? in.q.shape[1] : 0;
  Scratch<Compute<T>> sinks(heads);  // summed over the sequences
  if (!sinks.ok()) return NoScratch(heads);
  for (int64_t h = 0; h < heads; ++h) sinks.data()[h] = 0;
  for (int64_t i = 0; i + 1 < sequences.cu_seqlens_q.shape[0]; ++i) {
    const Part part(sequences, i);
    const AttentionUpstream<T> part_up = {part.Queries(up.o), part.Queries(up.lse),
                                          part.Queries(up.d_o), part.Queries(up.d_lse)};
    const AttentionGradients<T> part_grad = {part.Queries(grad.dq), part.Keys(grad.dk),
                                             part.Keys(grad.dv), grad.d_sinks};
    ATTN_RETURN_IF_ERROR(AttentionBackward(backend, part.Inputs(in), options, part_up, part_grad));
    for (int64_t h = 0; h < heads; ++h) sinks.data()[h] += grad.d_sinks(h);
  }
  for (int64_t h = 0; h < heads; ++h) grad.d_sinks(h) = sinks.data()[h];
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                       \
  template Status AttentionForwardPacked(const Backend&, const AttentionInputs<T>&,               \
                                         const PackedSequences&, const AttentionOptions&,         \
                                         const AttentionOutputs<T>&);                             \
  template Status AttentionBackwardPacked(                                                        \
      const Backend&, const AttentionInputs<T>&, const PackedSequences&, const AttentionOptions&, \
      const AttentionUpstream<T>&, const AttentionGradients<T>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
ATTN_INSTANTIATE(BFloat16)
ATTN_INSTANTIATE(Float16)
#undef ATTN_INSTANTIATE

}  // namespace attn
