// SPDX-License-Identifier: Apache-2.0
// Tensors of 16 bits. Forward and backward widen one head at a time into the worker's scratch, run
// the f32 kernel there and round what it gives: 2 (D + Dv) conversions a key beside 2 Sq (D + Dv)
// operations. Decoding reads each key once, so there the kernel itself widens: bf16 in registers,
// f16 (and both in WebAssembly) a block at a time. On AVX512_BF16 forward takes bf16 as it is, in
// pairs (kernels/attention-bf16-inl.h).
#include <algorithm>

#include "drivers/attention_task.h"
#include "drivers/half_pairs.h"
#include "drivers/half_rows.h"
#include "drivers/parallel.h"
#include "targets/targets.h"

namespace attn {
namespace {

// The dot products go with the backends of AVX-512.
AttentionBF16 DotProductsFor(const KernelTable<float>& table) {
  constexpr int64_t kLanes = 16;
  return table.lanes == kLanes && &table != PortableF32() ? DotProductsOfBF16() : nullptr;
}

// One item on the dot products of bf16; false where it cannot be: something is not finite, which a
// sum of two products would spread from a hidden key to its neighbour.
template <class S>
bool RunDotProducts(AttentionBF16 run, const AttentionInputs<S>& in,
                    const AttentionTask<float>& head, int64_t b, int64_t h, int64_t g,
                    int64_t begin, float* q, float* k, float* v) {
  if constexpr (std::is_same_v<S, BFloat16>) {
    if (run == nullptr) return false;
    const auto pairs = [](float* piece) { return reinterpret_cast<uint32_t*>(piece); };
    if (!PairRows(in.v, b, g, head.keys, pairs(v)) ||
        !PairChannels(in.q, b, h, begin, begin + head.queries, pairs(q))) {
      return false;
    }
    AttentionBF16Task task = {
        head, (head.d + 1) / 2, pairs(q), PairsInPlace(in.k, b, g), in.k.strides[2] / 2, pairs(v)};
    if (task.k == nullptr) {
      PairChannels(in.k, b, g, 0, head.keys, pairs(k));
      task.k = pairs(k), task.k_row = task.pairs;
    }
    run(task);
    return true;
  } else {
    return false;
  }
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
  const AttentionBF16 dots = flash ? DotProductsFor(table) : nullptr;
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
    task.q = q, task.k = k, task.v = v, task.o = o;
    task.lse = out.lse.present() ? &out.lse(b, h, begin) : nullptr;
    task.scratch = at;
    if (!RunDotProducts(dots, in, task, b, h, g, begin, q, k, v)) {
      WidenHead(in.q, b, h, begin, begin + rows, q);
      WidenHead(in.k, b, g, 0, task.keys, k);
      WidenHead(in.v, b, g, 0, task.keys, v);
      run(task);
    }
    NarrowHead(o, out.o, b, h, begin, begin + rows);
  });
  return {};
}

#define ATTN_INSTANTIATE(S)                                                                       \
  template Status ForwardHalf(const Backend&, const AttentionInputs<S>&, const AttentionOptions&, \
                              AttentionForm, const AttentionOutputs<S>&);
ATTN_INSTANTIATE(BFloat16)
ATTN_INSTANTIATE(Float16)
#undef ATTN_INSTANTIATE

}  // namespace attn
