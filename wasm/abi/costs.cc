// SPDX-License-Identifier: Apache-2.0
#include "attn/cost.h"

#include "abi/abi.h"
#include "abi/result.h"

namespace attn::abi {
namespace {

// Sizes of models that exist are a thousandth of this; products of three still fit 64 bits.
constexpr int64_t kLargest = int64_t{1} << 18;

Status CheckExtent(const char* name, int64_t value, int64_t least) {
  if (value >= least && value <= kLargest) return {};
  return InvalidArgument("model: ", name, " is ", value, ", needed is ", least, "..", kLargest);
}

Status ReadModel(const attn_model_shape* from, ModelShape& to) {
  ATTN_RETURN_IF_ERROR(CheckStruct("model", from));
  ATTN_RETURN_IF_ERROR(CheckExtent("layers", from->layers, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("attention_layers", from->attention_layers, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("d_model", from->d_model, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("heads", from->heads, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("kv_heads", from->kv_heads, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("d_head", from->d_head, 1));
  ATTN_RETURN_IF_ERROR(CheckExtent("d_latent", from->d_latent, 0));
  ATTN_RETURN_IF_ERROR(CheckExtent("d_rope", from->d_rope, 0));
  ATTN_RETURN_IF_ERROR(CheckExtent("d_query_latent", from->d_query_latent, 0));
  to.layers = from->layers;
  to.attention_layers = from->attention_layers;
  to.d_model = from->d_model;
  to.heads = from->heads;
  to.kv_heads = from->kv_heads;
  to.d_head = from->d_head;
  to.d_latent = from->d_latent;
  to.d_rope = from->d_rope;
  to.d_query_latent = from->d_query_latent;
  to.query_scalar = from->d_head;
  return {};
}

void AddCount(attn_result& to, const char* name, int64_t count) {
  to.Add(name, static_cast<double>(count));
}

Status Describe(int32_t index, attn_result** result) {
  if (index < 0 || index >= attn_model_count()) {
    return InvalidArgument("index ", int64_t{index}, ", there are ", int64_t{attn_model_count()},
                           " models");
  }
  const Result<const ModelShape*> model = &NamedModels()[static_cast<size_t>(index)];
  return Deliver(model, result, [](const ModelShape* m, attn_result& to) {
    to.Add("id", std::string(m->id));
    to.Add("name", std::string(m->name));
    to.Add("source", std::string(m->source));
    AddCount(to, "layers", m->layers);
    AddCount(to, "attention_layers", m->attention_layers);
    AddCount(to, "d_model", m->d_model);
    AddCount(to, "heads", m->heads);
    AddCount(to, "kv_heads", m->kv_heads);
    AddCount(to, "d_head", m->d_head);
    AddCount(to, "d_latent", m->d_latent);
    AddCount(to, "d_rope", m->d_rope);
    AddCount(to, "d_query_latent", m->d_query_latent);
    AddCount(to, "query_scalar", m->query_scalar);
    to.Add("softcap", m->softcap);
  });
}

Status Costs(const attn_model_shape* shape, attn_result** result) {
  Result<ModelShape> model = ModelShape();
  ATTN_RETURN_IF_ERROR(ReadModel(shape, *model));
  return Deliver(model, result, [](const ModelShape& m, attn_result& to) {
    const CircuitSize circuit = HeadCircuit(m);
    AddCount(to, "projection_weights", ProjectionWeights(m));
    AddCount(to, "projection_flops_per_token", ProjectionFlopsPerToken(m));
    to.Add("crossover_token", CrossoverToken(m));
    to.Add("crossover_prompt", CrossoverPrompt(m));
    AddCount(to, "cache_numbers", CacheNumbers(m));
    AddCount(to, "cache_numbers_unshared", CacheNumbersUnshared(m));
    to.Add("cache_saving", CacheSaving(m));
    AddCount(to, "multi_query_saving", MultiQuerySaving(m));
    to.Add("equivalent_groups", EquivalentGroups(m));
    AddCount(to, "circuit_entries", circuit.entries);
    AddCount(to, "circuit_factor_entries", circuit.factor_entries);
    AddCount(to, "circuit_rank_bound", circuit.rank_bound);
    AddCount(to, "circuit_heads_cover", circuit.heads_cover);
  });
}

Status Table(const attn_model_shape* shape, const int64_t* lengths, int64_t count,
             attn_result** result) {
  ModelShape model;
  ATTN_RETURN_IF_ERROR(ReadModel(shape, model));
  constexpr int64_t kMostLengths = 1 << 16;
  if (lengths != nullptr && (count < 0 || count > kMostLengths)) {
    return InvalidArgument("count is ", count, ", needed is 0..", kMostLengths);
  }
  const std::span<const int64_t> at =
      lengths == nullptr ? CostLengths() : std::span(lengths, static_cast<size_t>(count));
  return Deliver(CostTable(model, at), result, [](const auto& rows, attn_result& to) {
    const auto column = [&](const char* name, int64_t CostRow::* cell) {
      std::vector<int64_t> values;
      for (const CostRow& row : rows) values.push_back(row.*cell);
      to.Add(name, values);
    };
    column("n", &CostRow::n);
    column("head_scores", &CostRow::head_scores);
    column("head_flops", &CostRow::head_flops);
    column("head_flops_linear", &CostRow::head_flops_linear);
    column("model_attention", &CostRow::model_attention);
    column("model_projections", &CostRow::model_projections);
    column("cache_bytes", &CostRow::cache_bytes);
  });
}

Status At(const attn_model_shape* shape, int64_t n, int64_t d, bool causal, int64_t bytes,
          attn_result** result) {
  ModelShape model;
  ATTN_RETURN_IF_ERROR(ReadModel(shape, model));
  if (n < 0) return InvalidArgument("n is ", n, ", needed is at least 0");
  if (d < 0) return InvalidArgument("d is ", d, ", needed is at least 0");
  const struct {
    const char* name;
    Result<int64_t> count;
  } counts[] = {
      {"pairs", Pairs(n, causal)},
      {"softmax_flops", SoftmaxHeadFlops(n, d, causal)},
      {"linear_flops", LinearHeadFlops(n, d)},
      {"linear_state_numbers", LinearStateNumbers(d)},
      {"attention_flops_at", AttentionFlopsAt(model, n)},
      {"cache_bytes", CacheBytes(model, n, bytes)},
  };
  for (const auto& [name, count] : counts) ATTN_RETURN_IF_ERROR(count.status());
  return Deliver(Result<int64_t>(n), result, [&](int64_t, attn_result& to) {
    for (const auto& [name, count] : counts) AddCount(to, name, *count);
  });
}

}  // namespace
}  // namespace attn::abi

using attn::InvalidArgument;
using attn::abi::Report;

int32_t attn_model_count() { return static_cast<int32_t>(attn::NamedModels().size()); }

attn_status attn_model_get(int32_t index, attn_result** result) {
  if (result == nullptr) return Report(InvalidArgument("result is null"));
  return Report(attn::abi::Describe(index, result));
}

attn_status attn_model_costs(const attn_model_shape* model, attn_result** result) {
  if (result == nullptr) return Report(InvalidArgument("result is null"));
  return Report(attn::abi::Costs(model, result));
}

attn_status attn_cost_table(const attn_model_shape* model, const int64_t* lengths, int64_t count,
                            attn_result** result) {
  if (result == nullptr) return Report(InvalidArgument("result is null"));
  return Report(attn::abi::Table(model, lengths, count, result));
}

attn_status attn_cost_at(const attn_model_shape* model, int64_t n, int64_t d, int32_t causal,
                         int64_t bytes_per_number, attn_result** result) {
  if (result == nullptr) return Report(InvalidArgument("result is null"));
  return Report(attn::abi::At(model, n, d, causal != 0, bytes_per_number, result));
}
