// SPDX-License-Identifier: Apache-2.0
// The backward pass of 16 bits: a key/value head with its query heads at a time, in f32.
#include <algorithm>

#include "drivers/attention_task.h"
#include "drivers/half_rows.h"
#include "drivers/parallel.h"

namespace attn {

template <class S>
Status BackwardHalf(const Backend& backend, const AttentionInputs<S>& in,
                    const AttentionOptions& options, const AttentionUpstream<S>& up,
                    const AttentionGradients<S>& grad) {
  const auto [batch, heads, queries, d] = in.q.shape;
  const int64_t kv_heads = in.k.shape[1], keys = in.k.shape[2], dv = in.v.shape[3];
  const KernelTable<float>& table = backend.table<float>();
  const AttentionInputs<float> dense = DenseInputs(in);
  AttentionBackwardTask<float> shared = {};
  shared.forward = SharedTask(dense, options);
  shared.forward.o_row = shared.d_o_row = dv, shared.forward.o_col = shared.d_o_col = 1;
  shared.forward.lse_row = up.lse.strides[2], shared.d_lse_row = up.d_lse.strides[2];
  shared.dq_row = shared.dk_row = d, shared.dq_col = shared.dk_col = 1;
  shared.dv_row = dv, shared.dv_col = 1;
  const int64_t kernel = table.attention_backward_scratch(shared);
  Pieces pieces;
  for (const int64_t width : {d, dv}) {
    pieces.Add(keys, width), pieces.Add(keys, width);        // k, dk; v, dv
    pieces.Add(queries, width), pieces.Add(queries, width);  // q, dq; o, d_o
  }
  pieces.Add(kernel, 1);
  const WorkerScratch<float> scratch(backend, pieces.total());
  if (!scratch.ok()) return NoScratch(pieces.total());
  const bool sinks = grad.d_sinks.present();
  const Scratch<float> d_sinks(sinks ? batch * heads : 0);
  if (!d_sinks.ok()) return NoScratch(batch * heads);
  for (int64_t x = 0; sinks && x < batch * heads; ++x) d_sinks.data()[x] = 0;

  const int64_t group = kv_heads == 0 ? 0 : heads / kv_heads;
  ForEachItem(backend, batch * kv_heads, 2.5 * ForwardWork(in), [&](int64_t item, int64_t worker) {
    const int64_t b = item / kv_heads, g = item % kv_heads;
    float* at = scratch.of(worker);
    float* const k = Take(at, keys, d);
    float* const d_k = Take(at, keys, d);
    float* const q = Take(at, queries, d);
    float* const d_q = Take(at, queries, d);
    float* const v = Take(at, keys, dv);
    float* const d_v = Take(at, keys, dv);
    float* const o = Take(at, queries, dv);
    float* const d_o = Take(at, queries, dv);
    const int64_t seen = in.kv_lens.present() ? in.kv_lens(b) : keys;
    WidenHead(in.k, b, g, 0, seen, k);
    WidenHead(in.v, b, g, 0, seen, v);
    std::fill(d_k, d_k + keys * d, 0.0f);
    std::fill(d_v, d_v + keys * dv, 0.0f);
    for (int64_t h = g * group; queries > 0 && h < (g + 1) * group; ++h) {
      AttentionBackwardTask<float> task = shared;
      PointAtHead(dense, options, b, h, task.forward);
      WidenHead(in.q, b, h, 0, queries, q);
      WidenHead(up.o, b, h, 0, queries, o);
      WidenHead(up.d_o, b, h, 0, queries, d_o);
      task.forward.q = q, task.forward.k = k, task.forward.v = v, task.forward.o = o;
      // Forward's task can write lse; this kernel only reads it.
      task.forward.lse = const_cast<float*>(&up.lse(b, h, 0));
      task.forward.scratch = at;
      task.d_o = d_o;
      task.d_lse = up.d_lse.present() ? &up.d_lse(b, h, 0) : nullptr;
      task.dq = d_q, task.dk = d_k, task.dv = d_v;
      task.d_sink = sinks ? d_sinks.data() + (b * heads + h) : nullptr;
      table.attention_backward(task);
      NarrowHead(d_q, grad.dq, b, h, 0, queries);
    }
    NarrowHead(d_k, grad.dk, b, g, 0, keys);
    NarrowHead(d_v, grad.dv, b, g, 0, keys);
  });
  for (int64_t h = 0; sinks && h < heads; ++h) {
    float sum = 0;
    for (int64_t b = 0; b < batch; ++b) sum += d_sinks.data()[b * heads + h];
    grad.d_sinks(h) = sum;
  }
  return {};
}

#define ATTN_INSTANTIATE(S)                                                                        \
  template Status BackwardHalf(const Backend&, const AttentionInputs<S>&, const AttentionOptions&, \
                               const AttentionUpstream<S>&, const AttentionGradients<S>&);
ATTN_INSTANTIATE(BFloat16)
ATTN_INSTANTIATE(Float16)
#undef ATTN_INSTANTIATE

}  // namespace attn
