// SPDX-License-Identifier: Apache-2.0
// Q, K, V [dO, dLSE] -> O, LSE [dQ, dK, dV].
#include <algorithm>

#include "attn/attention.h"
#include "cli/operation.h"
#include "cli/params.h"

namespace attn::cli {
namespace {

// [left, right], null for a side without limit.
Status ReadWindow(const Json& params, Window& window) {
  if (!params.contains("window")) return {};
  const Json& pair = params["window"];
  const auto side = [](const Json& value) {
    return value.is_null() || (value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX);
  };
  if (!pair.is_array() || pair.size() != 2 || !side(pair[0]) || !side(pair[1])) {
    return InvalidArgument("params.window is ", pair.dump().substr(0, 60),
                           ", needed is [left, right], each an integer from 0 up or null");
  }
  if (!pair[0].is_null()) window.left = pair[0].get<int64_t>();
  if (!pair[1].is_null()) window.right = pair[1].get<int64_t>();
  return {};
}

Status ReadOptions(const Json& params, AttentionOptions& options) {
  ATTN_RETURN_IF_ERROR(ReadNumber(params, "scale", options.scale));
  ATTN_RETURN_IF_ERROR(ReadBoolean(params, "causal", options.causal.enabled));
  size_t align = 0;
  ATTN_RETURN_IF_ERROR(ReadChoice(params, "align", {"bottom_right", "top_left"}, align));
  options.causal.align = align == 0 ? Align::kBottomRight : Align::kTopLeft;
  ATTN_RETURN_IF_ERROR(ReadInteger(params, "query_offset", options.causal.query_offset));
  ATTN_RETURN_IF_ERROR(ReadWindow(params, options.window));
  std::optional<double> softcap;
  ATTN_RETURN_IF_ERROR(ReadNumber(params, "softcap", softcap));
  options.softcap = softcap.value_or(0);
  return {};
}

// K and V are [pages][Hk][page size][width] beside a page_table, and only there.
Status CheckPageSize(const Case& c, const Array& k) {
  std::optional<int64_t> page_size;
  ATTN_RETURN_IF_ERROR(ReadInteger(c.params, "page_size", page_size));
  if (!page_size) return {};
  if (c.input("page_table") == nullptr) {
    return InvalidArgument("params.page_size is ", *page_size, ", there is no page_table");
  }
  if (*page_size == k.shape[2]) return {};
  return InvalidArgument("params.page_size is ", *page_size, ", K has pages of ", k.shape[2]);
}

// How many keys a sequence may have.
int64_t KeyCapacity(const Case& c, const Array& k) {
  const Array* const table = c.input("page_table");
  return table == nullptr ? k.shape[2] : table->shape[1] * k.shape[2];
}

const Array* Find(const std::map<std::string, Array, std::less<>>& arrays, std::string_view key) {
  const auto found = arrays.find(key);
  return found == arrays.end() ? nullptr : &found->second;
}

// The library looks at the upstream gradients only when a gradient is wanted.
Status CheckLike(const char* key, const char* output, std::vector<int64_t> shape, Case& c) {
  const auto given = c.inputs.find(key);
  if (given == c.inputs.end()) return {};
  FillOpenAxes(shape, given->second);
  if (given->second.shape == shape) return {};
  return InvalidArgument("inputs.", key, " has shape ", ShapeText(given->second.shape), ", ",
                         output, " has ", ShapeText(shape));
}

Status CheckSizes(const Case& c, const Array& q, const Array& k, const Array& v) {
  const std::vector<int64_t> rows = {q.shape[0], q.shape[1], q.shape[2]};
  ATTN_RETURN_IF_ERROR(CheckSize("LSE", rows));
  ATTN_RETURN_IF_ERROR(CheckSize("O", {rows[0], rows[1], rows[2], v.shape[3]}));
  const double width = Span({q.shape[3]}) + Span({v.shape[3]});
  return CheckWork("B*Hq*Sq*Sk*(D+Dv)", Span(rows) * static_cast<double>(KeyCapacity(c, k)) * width,
                   c);
}

Status PrepareAttention(Case& c) {
  AttentionOptions options;
  ATTN_RETURN_IF_ERROR(ReadOptions(c.params, options));
  Array& q = c.inputs["Q"];
  Array& k = c.inputs["K"];
  Array& v = c.inputs["V"];
  // Only what a [] left open changes. The last axis of V is O's; the others are K's.
  if (c.input("page_table") == nullptr) {
    FillOpenAxes(k.shape, q);
    FillOpenAxes(q.shape, k);
  }
  ATTN_RETURN_IF_ERROR(CheckPageSize(c, k));
  std::vector<int64_t> v_shape = k.shape;
  for (const Array* o : {c.input("dO"), Find(c.expected, "O")}) {
    const bool told = o != nullptr && o->shape.size() >= 3 && o->shape.back() != kAnyExtent;
    if (told && !o->open_ended) v_shape[3] = o->shape.back();
  }
  FillOpenAxes(v_shape, v);
  ATTN_RETURN_IF_ERROR(CheckSizes(c, q, k, v));
  if ((c.input("cu_seqlens_q") == nullptr) != (c.input("cu_seqlens_k") == nullptr)) {
    return InvalidArgument("cu_seqlens_q and cu_seqlens_k are needed together");
  }
  for (const char* key : {"mask_keep", "mask_add"}) {
    const auto mask = c.inputs.find(key);
    if (mask != c.inputs.end()) {
      FillOpenAxes({q.shape[0], q.shape[1], q.shape[2], KeyCapacity(c, k)}, mask->second);
    }
  }
  ATTN_RETURN_IF_ERROR(CheckLike("dO", "O", {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, c));
  return CheckLike("dLSE", "LSE", {q.shape[0], q.shape[1], q.shape[2]}, c);
}

template <class T, size_t kRank>
Status LoadOptional(const Case& c, const char* key, Tensor<T, kRank>& tensor) {
  const Array* array = c.input(key);
  if (array == nullptr) return {};
  return Load(Message("inputs.", key), *array, tensor);
}

// What the inputs of a case become; the views in `in` and `packed` look into the tensors.
template <class T>
struct Loaded {
  AttentionOptions options;
  Tensor<T, 4> q, k, v, d_o;
  Tensor<Compute<T>, 4> add;
  Tensor<Compute<T>, 3> d_lse;
  Tensor<Compute<T>, 1> sinks;
  Tensor<uint8_t, 4> keep;
  Tensor<int64_t, 1> kv_lens, cu_seqlens_q, cu_seqlens_k;
  Tensor<int64_t, 2> page_table;
  AttentionInputs<T> in;
  PackedSequences packed;

  Status Load(const Case& c) {
    ATTN_RETURN_IF_ERROR(ReadOptions(c.params, options));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "Q", q));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "K", k));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "V", v));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "mask_keep", keep));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "mask_add", add));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "sinks", sinks));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "kv_lens", kv_lens));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "page_table", page_table));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "cu_seqlens_q", cu_seqlens_q));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "cu_seqlens_k", cu_seqlens_k));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "dO", d_o));
    ATTN_RETURN_IF_ERROR(LoadOptional(c, "dLSE", d_lse));
    in = {q.view, k.view, v.view, keep.view, add.view, sinks.view, kv_lens.view, page_table.view};
    packed = {cu_seqlens_q.view, cu_seqlens_k.view};
    return {};
  }
  bool is_packed() const { return cu_seqlens_q.view.present(); }
};

template <class T>
Result<Run> RunAttentionAs(const Case& c, const Backend& backend, int64_t kv_splits,
                           const Names& wanted) {
  Loaded<T> p;
  ATTN_RETURN_IF_ERROR(p.Load(c));
  if (kv_splits > 0) {
    p.options.form = AttentionForm::kDecode;  // the one that splits
    p.options.kv_splits = kv_splits;
  }
  const auto [batch, heads, queries, d] = p.in.q.shape;

  Destination<T, 4> o;
  Destination<Compute<T>, 3> lse;
  ATTN_RETURN_IF_ERROR(o.Allocate("O", {batch, heads, queries, p.in.v.shape[3]}));
  ATTN_RETURN_IF_ERROR(lse.Allocate("LSE", {batch, heads, queries}));
  Run run;
  ATTN_RETURN_IF_ERROR(Timed(run, [&] {
    const AttentionOutputs<T> out = {o.view, lse.view};
    return p.is_packed() ? AttentionForwardPacked<T>(backend, p.in, p.packed, p.options, out)
                         : AttentionForward<T>(backend, p.in, p.options, out);
  }));
  run.outputs = {o.ToOutput("O"), lse.ToOutput("LSE")};

  const auto gradient = [](std::string_view name) { return name.starts_with("d"); };
  if (std::ranges::any_of(wanted, gradient)) {
    const std::vector<T> zero(1, T{});  // the dO of a loss of LSE alone
    AttentionUpstream<T> up = {o.view, lse.view, p.d_o.view, p.d_lse.view};
    if (!up.d_o.present()) up.d_o = {zero.data(), o.view.shape, {0, 0, 0, 0}};
    Destination<T, 4> dq, dk, dv;
    Destination<Compute<T>, 1> d_sinks;
    ATTN_RETURN_IF_ERROR(dq.Allocate("dQ", p.in.q.shape));
    ATTN_RETURN_IF_ERROR(dk.Allocate("dK", p.in.k.shape));
    ATTN_RETURN_IF_ERROR(dv.Allocate("dV", p.in.v.shape));
    if (p.in.sinks.present()) {
      ATTN_RETURN_IF_ERROR(d_sinks.Allocate("dSinks", p.in.sinks.shape));
    }
    const AttentionGradients<T> grad = {dq.view, dk.view, dv.view, d_sinks.view};
    ATTN_RETURN_IF_ERROR(Timed(run, [&] {
      return p.is_packed()
                 ? AttentionBackwardPacked<T>(backend, p.in, p.packed, p.options, up, grad)
                 : AttentionBackward<T>(backend, p.in, p.options, up, grad);
    }));
    run.outputs.insert(run.outputs.end(),
                       {dq.ToOutput("dQ"), dk.ToOutput("dK"), dv.ToOutput("dV")});
    if (p.in.sinks.present()) run.outputs.push_back(d_sinks.ToOutput("dSinks"));
  }
  for (Output& output : run.outputs) {
    // Packed tensors have no batch.
    if (p.is_packed() && output.name != "dSinks") output.shape.erase(output.shape.begin());
  }
  return run;
}

Result<Run> RunAttention(const Case& c, const Backend& backend, const Setting& setting,
                         const Names& wanted) {
  switch (setting.dtype) {
    case DType::kF64:
      return RunAttentionAs<double>(c, backend, setting.kv_splits, wanted);
    case DType::kBF16:
      return RunAttentionAs<BFloat16>(c, backend, setting.kv_splits, wanted);
    case DType::kF16:
      return RunAttentionAs<Float16>(c, backend, setting.kv_splits, wanted);
    case DType::kF32:
      break;
  }
  return RunAttentionAs<float>(c, backend, setting.kv_splits, wanted);
}

}  // namespace

const Operation& AttentionOperation() {
  static const Names kUpstream = {"dO", "dLSE"};
  static const Operation operation = {
      .name = "attention",
      .inputs = {{"Q", 4, true, Axes::kFewerWhenPacked},
                 {"K", 4, true, Axes::kFewerWhenPacked},
                 {"V", 4, true, Axes::kFewerWhenPacked},
                 {"mask_keep", 4, false, Axes::kBroadcast},
                 {"mask_add", 4, false, Axes::kBroadcast},
                 {"sinks", 1, false},
                 {"kv_lens", 1, false},
                 {"page_table", 2, false},
                 {"cu_seqlens_q", 1, false},
                 {"cu_seqlens_k", 1, false},
                 {"dO", 4, false, Axes::kFewerWhenPacked},
                 {"dLSE", 3, false, Axes::kFewerWhenPacked}},
      .params = {"scale", "causal", "align", "query_offset", "window", "softcap", "page_size"},
      .lists = {"kv_splits", "threads"},
      .outputs = {{"O", {}, Op::kAttentionForward},
                  {"LSE", {}, Op::kAttentionForward},
                  {"dQ", kUpstream, Op::kAttentionBackward},
                  {"dK", kUpstream, Op::kAttentionBackward},
                  {"dV", kUpstream, Op::kAttentionBackward},
                  {"dSinks", kUpstream, Op::kAttentionBackward, "sinks"}},
      .later = {},
      .prepare = PrepareAttention,
      .run = RunAttention,
  };
  return operation;
}

}  // namespace attn::cli
