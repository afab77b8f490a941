// SPDX-License-Identifier: Apache-2.0
// Checks shapes, then hands one head at a time to the backend's kernel.
#include "attn/attention.h"

#include "drivers/attention_task.h"
#include "drivers/scratch.h"
#include "reference/kernels.h"

namespace attn {

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
  const bool flash = options.form == AttentionForm::kFlash;
  const Op op = flash ? Op::kAttentionForward : Op::kAttentionExplicit;
  if (!backend.Supports(op, DTypeOf<T>())) {
    return Unsupported(backend.name, " has no ", Name(op), " of ", Name(DTypeOf<T>()));
  }
  if (batch == 0 || heads == 0 || queries == 0) return {};

  const KernelTable<T>& table = backend.table<T>();
  AttentionTask<T> task = SharedTask(in, options);
  task.o_row = out.o.strides[2], task.o_col = out.o.strides[3], task.lse_row = out.lse.strides[2];
  const int64_t elements =
      flash ? table.attention_flash_scratch(task) : table.attention_explicit_scratch(task);
  Scratch<T> scratch(elements);
  if (!scratch.ok()) return NoScratch(elements);
  task.scratch = scratch.data();
  const auto run = flash ? table.attention_flash : table.attention_explicit;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      PointAtHead(in, options, b, h, task);
      task.o = At(out.o, b, h);
      task.lse = out.lse.present() ? &out.lse(b, h, 0) : nullptr;
      run(task);
    }
  }
  return {};
}

template <class T>
Status AttentionBackward(const Backend& backend, const AttentionInputs<T>& in,
                         const AttentionOptions& options, const AttentionUpstream<T>& up,
                         const AttentionGradients<T>& grad) {
  ATTN_RETURN_IF_ERROR(CheckBackward(in, options, up, grad));
  const auto [batch, heads, queries, d] = in.q.shape;
  if (!backend.Supports(Op::kAttentionBackward, DTypeOf<T>())) {
    return Unsupported(backend.name, " has no ", Name(Op::kAttentionBackward), " of ",
                       Name(DTypeOf<T>()));
  }
  const KernelTable<T>& table = backend.table<T>();
  AttentionBackwardTask<T> task = {};
  task.forward = SharedTask(in, options);
  task.d_o_row = up.d_o.strides[2], task.d_o_col = up.d_o.strides[3];
  task.d_lse_row = up.d_lse.strides[2];
  task.dq_row = grad.dq.strides[2], task.dq_col = grad.dq.strides[3];
  task.dk_row = grad.dk.strides[2], task.dk_col = grad.dk.strides[3];
  task.dv_row = grad.dv.strides[2], task.dv_col = grad.dv.strides[3];
  task.forward.o_row = up.o.strides[2], task.forward.o_col = up.o.strides[3];
  task.forward.lse_row = up.lse.strides[2];
  const int64_t elements = table.attention_backward_scratch(task);
  Scratch<T> scratch(elements);
  if (!scratch.ok()) return NoScratch(elements);
  task.forward.scratch = scratch.data();

  const int64_t kv_heads = in.k.shape[1], keys = in.k.shape[2];
  const int64_t group = kv_heads == 0 ? 0 : heads / kv_heads;
  for (int64_t h = 0; grad.d_sinks.present() && h < heads; ++h) grad.d_sinks(h) = 0;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t g = 0; g < kv_heads; ++g) {
      task.dk = At(grad.dk, b, g);
      task.dv = At(grad.dv, b, g);
      for (int64_t j = 0; j < keys; ++j) {
        for (int64_t c = 0; c < d; ++c) grad.dk(b, g, j, c) = 0;
        for (int64_t c = 0; c < in.v.shape[3]; ++c) grad.dv(b, g, j, c) = 0;
      }
      if (queries == 0) continue;
      for (int64_t h = g * group; h < (g + 1) * group; ++h) {
        PointAtHead(in, options, b, h, task.forward);
        // Forward's task can write o and lse; this kernel only reads them.
        task.forward.o = const_cast<T*>(At(up.o, b, h));
        task.forward.lse = const_cast<T*>(&up.lse(b, h, 0));
        task.d_o = At(up.d_o, b, h);
        task.d_lse = up.d_lse.present() ? &up.d_lse(b, h, 0) : nullptr;
        task.dq = At(grad.dq, b, h);
        task.d_sink = grad.d_sinks.present() ? &grad.d_sinks(h) : nullptr;
        table.attention_backward(task);
      }
    }
  }
  return {};
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
                                    const AttentionGradients<T>&);                        \
  template Status AttentionWeights(const View<const T, 4>&, const View<const T, 4>&,      \
                                   const AttentionOptions&, const View<T, 4>&, const View<T, 4>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
