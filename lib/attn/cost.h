// SPDX-License-Identifier: Apache-2.0
// What attention costs: Steps 4 and 6 of the article. FLOPs count a multiplication and an addition
// as two. Counts are exact 64-bit integers or an error that names the size; never rounded.
#ifndef ATTN_COST_H_
#define ATTN_COST_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attn/status.h"

namespace attn {

// The attention of a decoder, as its publication or its config.json says.
struct ModelShape {
  std::string_view id;      // "llama-3.1-8b"
  std::string_view name;    // "Llama 3.1 8B"
  std::string_view source;  // where the figures stand
  int64_t layers = 0;
  int64_t attention_layers = 0;  // those with a cache that grows; the rest are recurrences
  int64_t d_model = 0;
  int64_t heads = 0, kv_heads = 0;
  int64_t d_head = 0;  // of a query, a key (without a decoupled rotary part) and a value
  // Latent attention (MLA); 0 elsewhere.
  int64_t d_latent = 0;        // keys and values of all heads are rebuilt from this many numbers
  int64_t d_rope = 0;          // decoupled rotary part, one key for all heads
  int64_t d_query_latent = 0;  // queries are compressed too
  // What scores are divided by is sqrt(query_scalar): d_head unless the model says otherwise.
  int64_t query_scalar = 0;
  double softcap = 0;  // of the attention scores; 0: none

  bool latent() const { return d_latent > 0; }
  int64_t d_key() const { return d_head + d_rope; }  // width of one head's dot product
};

std::span<const ModelShape> NamedModels();
// By id; the error lists the ids there are.
Result<const ModelShape*> FindModel(std::string_view id);

// ---- One head -----------------------------------------------------------------------------------

// Queries x keys that are computed: n^2, or n (n + 1) / 2 where a causal mask is used to skip.
Result<int64_t> Pairs(int64_t n, bool causal);
// Q K^T and P V: 4 d a pair. Full grid: 4 n^2 d.
Result<int64_t> SoftmaxHeadFlops(int64_t n, int64_t d, bool causal = false);
// K^T V first, then Q times it (Katharopoulos et al. 2020): 4 n d^2.
Result<int64_t> LinearHeadFlops(int64_t n, int64_t d);
// What a recurrence keeps instead of the grid: S [d][d] and z [d].
Result<int64_t> LinearStateNumbers(int64_t d);

// ---- One attention layer of a model -------------------------------------------------------------

// Weights of the matrices that make queries, keys, values and the output.
int64_t ProjectionWeights(const ModelShape& model);
// 2 FLOPs a weight and token.
int64_t ProjectionFlopsPerToken(const ModelShape& model);
// Scores and weighted values of one new token that sees `position` keys, all heads:
// 2 position heads (d_key + d_head); 4 position heads d_head without a rotary part of its own.
Result<int64_t> AttentionFlopsAt(const ModelShape& model, int64_t position);
// Position from which a token spends more on attention than on projections:
// d_model + kv_heads d_head for grouped attention whose heads cover d_model.
double CrossoverToken(const ModelShape& model);
// Prompt length from which the whole prompt does: the average token sits halfway.
double CrossoverPrompt(const ModelShape& model);

// ---- The cache ----------------------------------------------------------------------------------

// Numbers kept a token and layer: 2 kv_heads d_head; latent: d_latent + d_rope.
int64_t CacheNumbers(const ModelShape& model);
// The same with a key and a value head for each query head.
int64_t CacheNumbersUnshared(const ModelShape& model);
// Unshared over actual: 4 for Llama 3.1 8B, 6 for Qwen2.5-1.5B, 57 for DeepSeek-V2.
double CacheSaving(const ModelShape& model);
// What one key/value head for all (multi-query attention) would save: heads.
int64_t MultiQuerySaving(const ModelShape& model);
// Groups of grouped-query attention that would cache as much as this model does.
double EquivalentGroups(const ModelShape& model);
// All caching layers, `tokens` tokens, `bytes_per_number` bytes (2: bf16).
Result<int64_t> CacheBytes(const ModelShape& model, int64_t tokens, int64_t bytes_per_number = 2);

// ---- Low rank (Step 5) --------------------------------------------------------------------------

// W_QK = W_Q^T W_K of one head is [d_model][d_model] with rank at most `rank`, held as two factors.
struct CircuitSize {
  int64_t entries = 0;         // d_model^2
  int64_t factor_entries = 0;  // d_head d_model, each of two
  int64_t rank_bound = 0;      // d_head: of W_QK and of W_OV
  int64_t heads_cover = 0;     // heads d_head: rank that all heads together can reach
};
CircuitSize HeadCircuit(const ModelShape& model);

// ---- The table that the article shows as a picture ----------------------------------------------

struct CostRow {
  int64_t n = 0;
  int64_t head_scores = 0;        // n^2, full grid
  int64_t head_flops = 0;         // 4 n^2 d_head, full grid
  int64_t head_flops_linear = 0;  // 4 n d_head^2
  int64_t model_attention = 0;    // all caching layers and heads; the causal mask skips pairs
  int64_t model_projections = 0;  // all caching layers
  int64_t cache_bytes = 0;        // bf16
};
// Errors: a length below 0; counts above 2^63 - 1.
Result<std::vector<CostRow>> CostTable(const ModelShape& model, std::span<const int64_t> lengths);

// 1024, 2048, ... 131072.
std::span<const int64_t> CostLengths();

}  // namespace attn

#endif  // ATTN_COST_H_
