// SPDX-License-Identifier: Apache-2.0
#include "attn/cost.h"

#include <initializer_list>

namespace attn {
namespace {

// The product of sizes, or an error that names the one that may be large.
Result<int64_t> Product(const char* what, int64_t size, std::initializer_list<int64_t> factors) {
  if (size < 0) return InvalidArgument(what, ": ", size, " is below 0");
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor < 0) return InvalidArgument(what, ": a factor of ", factor, " is below 0");
    if (__builtin_mul_overflow(product, factor, &product)) {
      return InvalidArgument(what, ": ", size, " gives a count above 2^63 - 1");
    }
  }
  return product;
}

int64_t CachedHeads(const ModelShape& model) { return model.heads * model.d_head; }

// FLOPs a visible pair, all heads of one layer: a dot product of d_key and a sum of d_head.
int64_t FlopsPerPair(const ModelShape& model) {
  return 2 * model.heads * (model.d_key() + model.d_head);
}

}  // namespace

Result<int64_t> Pairs(int64_t n, bool causal) {
  if (!causal) return Product("n", n, {n, n});
  // One of n and n + 1 is even: halving it first keeps the product exact.
  return n % 2 == 0 ? Product("n", n, {n / 2, n + 1}) : Product("n", n, {n, n / 2 + 1});
}

Result<int64_t> SoftmaxHeadFlops(int64_t n, int64_t d, bool causal) {
  const Result<int64_t> pairs = Pairs(n, causal);
  if (!pairs.ok()) return pairs;
  return Product("n", n, {4, *pairs, d});
}

Result<int64_t> LinearHeadFlops(int64_t n, int64_t d) { return Product("n", n, {4, n, d, d}); }

Result<int64_t> LinearStateNumbers(int64_t d) {
  return d < 0 ? Product("d", d, {}) : Product("d", d, {d, d + 1});
}

int64_t ProjectionWeights(const ModelShape& m) {
  const int64_t values = m.heads * m.d_head;
  if (!m.latent()) return m.d_model * (values + 2 * m.kv_heads * m.d_head + values);
  // DeepSeek-V2, equations 9 to 19: W_DQ and W_UQ, W_QR; W_DKV and W_KR; W_UK, W_UV; W_O.
  const int64_t queries = m.heads * m.d_key();
  return m.d_model * m.d_query_latent + m.d_query_latent * queries +
         m.d_model * (m.d_latent + m.d_rope) + 2 * m.d_latent * values + m.d_model * values;
}

int64_t ProjectionFlopsPerToken(const ModelShape& model) { return 2 * ProjectionWeights(model); }

Result<int64_t> AttentionFlopsAt(const ModelShape& model, int64_t position) {
  return Product("position", position, {position, FlopsPerPair(model)});
}

double CrossoverToken(const ModelShape& model) {
  return static_cast<double>(ProjectionFlopsPerToken(model)) /
         static_cast<double>(FlopsPerPair(model));
}

double CrossoverPrompt(const ModelShape& model) { return 2 * CrossoverToken(model); }

int64_t CacheNumbers(const ModelShape& model) {
  return model.latent() ? model.d_latent + model.d_rope : 2 * model.kv_heads * model.d_head;
}

int64_t CacheNumbersUnshared(const ModelShape& model) { return 2 * CachedHeads(model); }

double CacheSaving(const ModelShape& model) {
  return static_cast<double>(CacheNumbersUnshared(model)) /
         static_cast<double>(CacheNumbers(model));
}

int64_t MultiQuerySaving(const ModelShape& model) {
  return CacheNumbersUnshared(model) / (2 * model.d_head);
}

double EquivalentGroups(const ModelShape& model) {
  return static_cast<double>(CacheNumbers(model)) / static_cast<double>(2 * model.d_head);
}

Result<int64_t> CacheBytes(const ModelShape& model, int64_t tokens, int64_t bytes_per_number) {
  return Product("tokens", tokens,
                 {tokens, CacheNumbers(model), model.attention_layers, bytes_per_number});
}

CircuitSize HeadCircuit(const ModelShape& model) {
  return {.entries = model.d_model * model.d_model,
          .factor_entries = model.d_head * model.d_model,
          .rank_bound = model.d_head,
          .heads_cover = CachedHeads(model)};
}

Result<std::vector<CostRow>> CostTable(const ModelShape& model, std::span<const int64_t> lengths) {
  std::vector<CostRow> rows;
  for (const int64_t n : lengths) {
    CostRow row;
    row.n = n;
    const auto set = [](int64_t& cell, const Result<int64_t>& count) {
      if (count.ok()) cell = *count;
      return count.status();
    };
    int64_t pairs = 0;
    ATTN_RETURN_IF_ERROR(set(row.head_scores, Pairs(n, false)));
    ATTN_RETURN_IF_ERROR(set(row.head_flops, SoftmaxHeadFlops(n, model.d_head)));
    ATTN_RETURN_IF_ERROR(set(row.head_flops_linear, LinearHeadFlops(n, model.d_head)));
    ATTN_RETURN_IF_ERROR(set(pairs, Pairs(n, true)));
    ATTN_RETURN_IF_ERROR(
        set(row.model_attention,
            Product("n", n, {pairs, FlopsPerPair(model), model.attention_layers})));
    ATTN_RETURN_IF_ERROR(
        set(row.model_projections,
            Product("n", n, {n, ProjectionFlopsPerToken(model), model.attention_layers})));
    ATTN_RETURN_IF_ERROR(set(row.cache_bytes, CacheBytes(model, n)));
    rows.push_back(row);
  }
  return rows;
}

std::span<const int64_t> CostLengths() {
  static constexpr int64_t kLengths[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
  return kLengths;
}

}  // namespace attn
