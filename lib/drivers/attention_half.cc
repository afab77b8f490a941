// SPDX-License-Identifier: Apache-2.0
// Tensors of 16 bits. Forward and backward widen one head at a time into the worker's scratch, run
// the f32 kernel there and round what it gives: 2 (D + Dv) conversions a key beside 2 Sq (D + Dv)
// operations. Decoding reads each key once, so there the kernel itself widens a block at a time.
#include <algorithm>

#include "attn/half.h"
#include "drivers/attention_task.h"
#include "drivers/parallel.h"

namespace attn {
namespace {

constexpr int64_t kItemQueries = 256;

// Rows begin <= i < end of a head, dense.
template <class S>
void WidenHead(const View<const S, 4>& from, int64_t b, int64_t h, int64_t begin, int64_t end,
               float* to) {
  const int64_t width = from.shape[3], row = from.strides[2], col = from.strides[3];
  const S* x = At(from, b, h) + begin * row;
  for (int64_t i = begin; i < end; ++i, x += row, to += width) {
    if (col == 1) {
      Widen(std::span(x, static_cast<size_t>(width)), std::span(to, static_cast<size_t>(width)));
    } else {
      for (int64_t c = 0; c < width; ++c) to[c] = ToFloat(x[c * col]);
    }
  }
}

template <class S>
void NarrowHead(const float* from, const View<S, 4>& to, int64_t b, int64_t h, int64_t begin,
                int64_t end) {
  const int64_t width = to.shape[3], row = to.strides[2], col = to.strides[3];
  S* x = At(to, b, h) + begin * row;
  for (int64_t i = begin; i < end; ++i, x += row, from += width) {
    const std::span<const float> dense(from, static_cast<size_t>(width));
    if (col == 1) {
      Narrow(dense, std::span(x, static_cast<size_t>(width)));
    } else {
      for (int64_t c = 0; c < width; ++c)
        Narrow(dense.subspan(static_cast<size_t>(c), 1), std::span(x + c * col, 1));
    }
  }
}

// The same problem with one dense head of f32 for all; its tensors have no data yet.
template <class S>
AttentionInputs<float> DenseInputs(const AttentionInputs<S>& in) {
  const auto dense = [](const Shape<4>& shape) {
    View<const float, 4> view(nullptr, shape, {0, 0, shape[3], 1});
    return view;
  };
  AttentionInputs<float> to = {dense(in.q.shape), dense(in.k.shape), dense(in.v.shape)};
  to.mask_keep = in.mask_keep, to.mask_add = in.mask_add;
  to.sinks = in.sinks, to.kv_lens = in.kv_lens;
  return to;
}

// Consecutive pieces of one block.
class Pieces {
 public:
  void Add(int64_t rows, int64_t width) {
    int64_t elements = 0;
    const bool overflow = __builtin_mul_overflow(rows, width, &elements) ||
                          __builtin_add_overflow(elements, 15, &elements) ||
                          __builtin_add_overflow(total_, elements & ~int64_t{15}, &total_);
    if (overflow) total_ = -1;
    bad_ = bad_ || overflow;
  }
  int64_t total() const { return bad_ ? -1 : total_; }

 private:
  int64_t total_ = 0;
  bool bad_ = false;
};

float* Take(float*& at, int64_t rows, int64_t width) {
  float* const piece = at;
  at += (rows * width + 15) & ~int64_t{15};
  return piece;
}

template <class S>
Status DecodeHalf(const Backend& backend, const AttentionInputs<S>& in,
                  const AttentionOptions& options, const AttentionOutputs<S>& out) {
  const auto [batch, heads, queries, d] = in.q.shape;
  const int64_t dv = in.v.shape[3];
  Pieces pieces;
  pieces.Add(batch * heads * queries, d);
  pieces.Add(batch * heads * queries, dv);
  const Scratch<float> scratch(pieces.total());
  if (!scratch.ok()) return NoScratch(pieces.total());
  float* at = scratch.data();
  float* const q = Take(at, batch * heads * queries, d);
  float* const o = Take(at, batch * heads * queries, dv);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      WidenHead(in.q, b, h, 0, queries, q + (b * heads + h) * queries * d);
    }
  }
  // The kernel is told what k and v really point at.
  const auto as_float = [](const View<const S, 4>& view) {
    return View<const float, 4>(reinterpret_cast<const float*>(view.data), view.shape,
                                view.strides);
  };
  AttentionInputs<float> wide = {{q, in.q.shape}, as_float(in.k), as_float(in.v)};
  wide.mask_keep = in.mask_keep, wide.mask_add = in.mask_add;
  wide.sinks = in.sinks, wide.kv_lens = in.kv_lens, wide.page_table = in.page_table;
  constexpr Storage kStorage = DTypeOf<S>() == DType::kBF16 ? Storage::kBF16 : Storage::kF16;
  const AttentionOutputs<float> wide_out = {{o, out.o.shape}, out.lse};
  ATTN_RETURN_IF_ERROR(DecodeForward(backend, wide, options, wide_out, kStorage));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      NarrowHead(o + (b * heads + h) * queries * dv, out.o, b, h, 0, queries);
    }
  }
  return {};
}

}  // namespace

template <class S>
Status ForwardHalf(const Backend& backend, const AttentionInputs<S>& in,
                   const AttentionOptions& options, AttentionForm form,
                   const AttentionOutputs<S>& out) {
  if (form == AttentionForm::kDecode) return DecodeHalf(backend, in, options, out);
  const auto [batch, heads, queries, d] = in.q.shape;
  const int64_t keys = in.k.shape[2], dv = in.v.shape[3];
  const int64_t step = HasExecutor(backend) ? std::min(kItemQueries, queries) : queries;
  const int64_t steps = (queries + step - 1) / step;
  const bool flash = form == AttentionForm::kFlash;
  const KernelTable<float>& table = backend.table<float>();
  const AttentionInputs<float> dense = DenseInputs(in);
  AttentionTask<float> shared = SharedTask(dense, options);
  shared.o_row = dv, shared.o_col = 1;
  shared.lse_row = out.lse.strides[2];
  const int64_t kernel =
      flash ? table.attention_flash_scratch(shared) : table.attention_explicit_scratch(shared);
  Pieces pieces;
  pieces.Add(step, d);
  pieces.Add(keys, d);
  pieces.Add(keys, dv);
  pieces.Add(step, dv);
  pieces.Add(kernel, 1);
  const WorkerScratch<float> scratch(backend, pieces.total());
  if (!scratch.ok()) return NoScratch(pieces.total());
  const auto run = flash ? table.attention_flash : table.attention_explicit;
  ForEachItem(backend, batch * heads * steps, ForwardWork(in), [&](int64_t item, int64_t worker) {
    const int64_t head = item % (batch * heads),
                  begin = (steps - 1 - item / (batch * heads)) * step;
    const int64_t b = head / heads, h = head % heads, g = h / (heads / in.k.shape[1]);
    const int64_t rows = std::min(queries - begin, step);
    AttentionTask<float> task = shared;
    PointAtHead(dense, options, b, h, task);
    // From here on query 0 is `begin`.
    task.queries = task.query_end = rows;
    task.low += begin, task.high += begin;
    if (task.keep != nullptr) task.keep += begin * task.keep_row;
    if (task.add != nullptr) task.add += begin * task.add_row;
    float* at = scratch.of(worker);
    float* const q = Take(at, step, d);
    float* const k = Take(at, keys, d);
    float* const v = Take(at, keys, dv);
    float* const o = Take(at, step, dv);
    WidenHead(in.q, b, h, begin, begin + rows, q);
    WidenHead(in.k, b, g, 0, task.keys, k);
    WidenHead(in.v, b, g, 0, task.keys, v);
    task.q = q, task.k = k, task.v = v, task.o = o;
    task.lse = out.lse.present() ? &out.lse(b, h, begin) : nullptr;
    task.scratch = at;
    run(task);
    NarrowHead(o, out.o, b, h, begin, begin + rows);
  });
  return {};
}

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
  template Status ForwardHalf(const Backend&, const AttentionInputs<S>&, const AttentionOptions&,  \
                              AttentionForm, const AttentionOutputs<S>&);                          \
  template Status BackwardHalf(const Backend&, const AttentionInputs<S>&, const AttentionOptions&, \
                               const AttentionUpstream<S>&, const AttentionGradients<S>&);
ATTN_INSTANTIATE(BFloat16)
ATTN_INSTANTIATE(Float16)
#undef ATTN_INSTANTIATE

}  // namespace attn
