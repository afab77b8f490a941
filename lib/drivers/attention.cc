// SPDX-License-Identifier: Apache-2.0
// Checks shapes, then hands one head at a time to the backend's kernel.
#include "attn/attention.h"

#include <algorithm>

#include "drivers/attention_task.h"
#include "drivers/parallel.h"
#include "reference/kernels.h"

namespace attn {
namespace {

Op OpOf(AttentionForm form) {
  switch (form) {
    case AttentionForm::kExplicit:
      return Op::kAttentionExplicit;
    case AttentionForm::kDecode:
      return Op::kAttentionDecode;
    default:
      return Op::kAttentionForward;
  }
}

template <class T>
AttentionForm FormFor(const Backend& backend, const AttentionInputs<T>& in, AttentionForm asked) {
  constexpr int64_t kFewQueries = 8;
  if (asked != AttentionForm::kAuto) return asked;
  const bool few = in.q.shape[2] <= kFewQueries;
  const bool decodes = !kPageOnly && backend.Supports(Op::kAttentionDecode, DTypeOf<T>());
  return Paged(in) || (few && decodes) ? AttentionForm::kDecode : AttentionForm::kFlash;
}

// Flash or explicit.
template <class T>
Status ForwardOfHeads(const Backend& backend, const AttentionInputs<T>& in,
                      const AttentionOptions& options, AttentionForm form,
                      const AttentionOutputs<T>& out) {
  const auto [batch, heads, queries, d] = in.q.shape;
  const bool flash = form == AttentionForm::kFlash;
  const KernelTable<T>& table = backend.table<T>();
  AttentionTask<T> shared = SharedTask(in, options);
  shared.o_row = out.o.strides[2], shared.o_col = out.o.strides[3];
  shared.lse_row = out.lse.strides[2];
  const int64_t elements =
      flash ? table.attention_flash_scratch(shared) : table.attention_explicit_scratch(shared);
  const WorkerScratch<T> scratch(backend, elements);
  if (!scratch.ok()) return NoScratch(elements);
  const auto run = flash ? table.attention_flash : table.attention_explicit;
  // One thread takes heads whole: fetching ahead begins anew with each item.
  const int64_t step = HasExecutor(backend) ? kItemQueries : queries;
  const int64_t steps = (queries + step - 1) / step;
  ForEachItem(backend, batch * heads * steps, ForwardWork(in), [&](int64_t item, int64_t worker) {
    // The last queries first: with a causal mask they have the most to do.
    const int64_t head = item % (batch * heads), at = steps - 1 - item / (batch * heads);
    const int64_t b = head / heads, h = head % heads;
    AttentionTask<T> task = shared;
    PointAtHead(in, options, b, h, task);
    task.o = At(out.o, b, h);
    task.lse = out.lse.present() ? &out.lse(b, h, 0) : nullptr;
    task.query_begin = at * step;
    task.query_end = std::min(queries, task.query_begin + step);
    task.scratch = scratch.of(worker);
    run(task);
  });
  return {};
}

template <class T>
Status BackwardOfHeads(const Backend& backend, const AttentionInputs<T>& in,
                       const AttentionOptions& options, const AttentionUpstream<T>& up,
                       const AttentionGradients<T>& grad) {
  const auto [batch, heads, queries, d] = in.q.shape;
  const KernelTable<T>& table = backend.table<T>();
  AttentionBackwardTask<T> shared = {};
  shared.forward = SharedTask(in, options);
  shared.d_o_row = up.d_o.strides[2], shared.d_o_col = up.d_o.strides[3];
  shared.d_lse_row = up.d_lse.strides[2];
  shared.dq_row = grad.dq.strides[2], shared.dq_col = grad.dq.strides[3];
  shared.dk_row = grad.dk.strides[2], shared.dk_col = grad.dk.strides[3];
  shared.dv_row = grad.dv.strides[2], shared.dv_col = grad.dv.strides[3];
  shared.forward.o_row = up.o.strides[2], shared.forward.o_col = up.o.strides[3];
  shared.forward.lse_row = up.lse.strides[2];
  const int64_t elements = table.attention_backward_scratch(shared);
  const WorkerScratch<T> scratch(backend, elements);
  if (!scratch.ok()) return NoScratch(elements);
  // A sink's gradient sums over the batch, whose sequences are items of their own.
  const bool sinks = !kPageOnly && grad.d_sinks.present();
  const Scratch<T> d_sinks(sinks ? batch * heads : 0);
  if (!d_sinks.ok()) return NoScratch(batch * heads);
  for (int64_t x = 0; sinks && x < batch * heads; ++x) d_sinks.data()[x] = 0;

  const int64_t kv_heads = in.k.shape[1], keys = in.k.shape[2];
  const int64_t group = kv_heads == 0 ? 0 : heads / kv_heads;
  ForEachItem(backend, batch * kv_heads, 2.5 * ForwardWork(in), [&](int64_t item, int64_t worker) {
    const int64_t b = item / kv_heads, g = item % kv_heads;
    AttentionBackwardTask<T> task = shared;
    task.forward.scratch = scratch.of(worker);
    task.dk = At(grad.dk, b, g);
    task.dv = At(grad.dv, b, g);
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t c = 0; c < d; ++c) grad.dk(b, g, j, c) = 0;
      for (int64_t c = 0; c < in.v.shape[3]; ++c) grad.dv(b, g, j, c) = 0;
    }
    if (queries == 0) return;
    for (int64_t h = g * group; h < (g + 1) * group; ++h) {
      PointAtHead(in, options, b, h, task.forward);
      // Forward's task can write o and lse; this kernel only reads them.
      task.forward.o = const_cast<T*>(At(up.o, b, h));
      task.forward.lse = const_cast<T*>(&up.lse(b, h, 0));
      task.d_o = At(up.d_o, b, h);
      task.d_lse = up.d_lse.present() ? &up.d_lse(b, h, 0) : nullptr;
      task.dq = At(grad.dq, b, h);
      task.d_sink = sinks ? d_sinks.data() + (b * heads + h) : nullptr;
      table.attention_backward(task);
    }
  });
  for (int64_t h = 0; sinks && h < heads; ++h) {
    T sum = 0;
    for (int64_t b = 0; b < batch; ++b) sum += d_sinks.data()[b * heads + h];
    grad.d_sinks(h) = sum;
  }
  return {};
}

}  // namespace

template <class T>
Status AttentionForward(const Backend& backend, const AttentionInputs<T>& in,
                        const AttentionOptions& options, const AttentionOutputs<T>& out) {
  ATTN_RETURN_IF_ERROR(CheckInputs(in, options));
  const auto [batch, heads, queries, d] = in.q.shape;
  ATTN_RETURN_IF_ERROR(CheckResult("O", out.o, {batch, heads, queries, in.v.shape[3]}));
  ATTN_RETURN_IF_ERROR(CheckOptional("LSE", out.lse));
  if (out.lse.present()) {
    ATTN_RETURN_IF_ERROR(CheckResult("LSE", out.lse, {batch, heads, queries}));
  }
  if (!kPageOnly && options.kv_splits < 0) {
    return InvalidArgument("kv_splits is ", options.kv_splits, ", needed is 0 or more");
  }
  const AttentionForm form = FormFor(backend, in, options.form);
  if (Paged(in) && form != AttentionForm::kDecode) {
    return InvalidArgument("page_table: only the form decode reads pages");
  }
  if (!backend.Supports(OpOf(form), DTypeOf<T>())) {
    return Unsupported(backend.name, " has no ", Name(OpOf(form)), " of ", Name(DTypeOf<T>()));
  }
  if (batch == 0 || heads == 0 || queries == 0) return {};
  if constexpr (kIsHalf<T>) {
    return ForwardHalf(backend, in, options, form, out);
  } else {
    if (!kPageOnly && form == AttentionForm::kDecode) {
      return DecodeForward(backend, in, options, out);
    }
    return ForwardOfHeads(backend, in, options, form, out);
  }
}

template <class T>
Status AttentionBackward(const Backend& backend, const AttentionInputs<T>& in,
                         const AttentionOptions& options, const AttentionUpstream<T>& up,
                         const AttentionGradients<T>& grad) {
  ATTN_RETURN_IF_ERROR(CheckBackward(in, options, up, grad));
  if (!backend.Supports(Op::kAttentionBackward, DTypeOf<T>())) {
    return Unsupported(backend.name, " has no ", Name(Op::kAttentionBackward), " of ",
                       Name(DTypeOf<T>()));
  }
  if constexpr (kIsHalf<T>) {
    return BackwardHalf(backend, in, options, up, grad);
  } else {
    return BackwardOfHeads(backend, in, options, up, grad);
  }
}

template <class T>
Status AttentionWeights(const View<const T, 4>& q, const View<const T, 4>& k,
                        const AttentionOptions& options, const View<T, 4>& scores,
                        const View<T, 4>& weights) {
  ATTN_RETURN_IF_ERROR(CheckQueriesKeys(q, k, options));
  const auto [batch, heads, queries, d] = q.shape;
  const int64_t keys = k.shape[2];
  const Shape<4> grid = {batch, heads, queries, keys};
  ATTN_RETURN_IF_ERROR(CheckOptional("scores", scores));
  ATTN_RETURN_IF_ERROR(CheckOptional("weights", weights));
  if (scores.present()) ATTN_RETURN_IF_ERROR(CheckResult("scores", scores, grid));
  if (weights.present()) ATTN_RETURN_IF_ERROR(CheckResult("weights", weights, grid));
  const AttentionInputs<T> in = {q, k, k};
  AttentionTask<T> task = SharedTask(in, options);
  const int64_t elements = 2 * keys + 1;
  Scratch<T> row(elements);
  if (!row.ok()) return NoScratch(elements);
  T* s = row.data();
  T* shown = s + keys + 1;  // NaN would make the weights of hidden keys NaN
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      PointAtHead(in, options, b, h, task);
      for (int64_t i = 0; i < queries; ++i) {
        reference::Scores(task, i, s);
        for (int64_t j = 0; scores.present() && j < keys; ++j) scores(b, h, i, j) = s[j];
        if (!weights.present()) continue;
        for (int64_t j = 0; j < keys; ++j) shown[j] = s[j];
        reference::Weights(task, s);
        for (int64_t j = 0; j < keys; ++j) {
          weights(b, h, i, j) = shown[j] == -static_cast<T>(INFINITY) ? T{0} : s[j];
        }
      }
    }
  }
  return {};
}

#define ATTN_INSTANTIATE(T)                                                               \
  template Status AttentionForward(const Backend&, const AttentionInputs<T>&,             \
                                   const AttentionOptions&, const AttentionOutputs<T>&);  \
  template Status AttentionBackward(const Backend&, const AttentionInputs<T>&,            \
                                    const AttentionOptions&, const AttentionUpstream<T>&, \
                                    const AttentionGradients<T>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#if !defined(ATTN_PAGE_ONLY)
ATTN_INSTANTIATE(BFloat16)
ATTN_INSTANTIATE(Float16)
#endif
#undef ATTN_INSTANTIATE

template Status AttentionWeights(const View<const float, 4>&, const View<const float, 4>&,
                                 const AttentionOptions&, const View<float, 4>&,
                                 const View<float, 4>&);
template Status AttentionWeights(const View<const double, 4>&, const View<const double, 4>&,
                                 const AttentionOptions&, const View<double, 4>&,
                                 const View<double, 4>&);

}  // namespace attn
