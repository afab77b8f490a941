// SPDX-License-Identifier: Apache-2.0
// The cost model and the named models.
#include "attn/cost.h"

#include "testing.h"

namespace attn {
namespace {

using testing::Has;
using testing::Why;

TEST_CASE("step 4: counts are exact, or an error names the size") {
  CHECK(*Pairs(5, false) == 25);
  CHECK(*Pairs(5, true) == 15);
  CHECK(*Pairs(6, true) == 21);
  CHECK(*Pairs(0, true) == 0);
  CHECK(*SoftmaxHeadFlops(131072, 128) == 8796093022208);
  CHECK(*LinearHeadFlops(131072, 128) == 8589934592);
  CHECK(*Pairs(4294967295, true) == 9223372034707292160);  // n (n + 1) alone needs 65 bits
  Has(Why(Pairs(4294967296, false)), "n: 4294967296");
  Has(Why(SoftmaxHeadFlops(1 << 30, 128)), "above 2^63");
  Has(Why(Pairs(-1, true)), "n: -1");
  Has(Why(LinearHeadFlops(8, -2)), "-2");
  Has(Why(LinearStateNumbers(-1)), "d: -1");
  const int64_t lengths[] = {1024, int64_t{1} << 40};
  Has(Why(CostTable(**FindModel("llama-3.1-8b"), lengths)), "1099511627776");
}

TEST_CASE("steps 4 to 6: the named models") {
  Has(Why(FindModel("gpt-9")), "\"gpt-9\"");
  Has(Why(FindModel("gpt-9")), "deepseek-v2");
  for (const ModelShape& model : NamedModels()) {
    CAPTURE(model.name);
    CHECK(*FindModel(model.id) == &model);
    CHECK(!model.source.empty());
    CHECK(model.heads % model.kv_heads == 0);
    CHECK(model.attention_layers <= model.layers);
    // At the crossover a token's attention costs what its projections do.
    const double t = CrossoverToken(model);
    const auto below = AttentionFlopsAt(model, static_cast<int64_t>(t));
    const auto above = AttentionFlopsAt(model, static_cast<int64_t>(t) + 1);
    CHECK(*below <= ProjectionFlopsPerToken(model));
    CHECK(*above > ProjectionFlopsPerToken(model));
    const auto rows = CostTable(model, CostLengths());
    REQUIRE(rows.ok());
    for (const CostRow& row : *rows) {
      CHECK(row.head_flops == 4 * row.n * row.n * model.d_head);
      CHECK(row.head_flops_linear * row.n == row.head_flops * model.d_head);
      CHECK(row.model_projections ==
            row.n * ProjectionFlopsPerToken(model) * model.attention_layers);
      // The causal prompt is the sum of its tokens.
      CHECK(row.model_attention ==
            *AttentionFlopsAt(model, row.n * (row.n + 1) / 2) * model.attention_layers);
      CHECK(row.cache_bytes == 2 * row.n * CacheNumbers(model) * model.attention_layers);
    }
  }
  const ModelShape& llama = **FindModel("llama-3.1-8b");
  CHECK(ProjectionWeights(llama) == 41943040);
  CHECK(*CacheBytes(llama, 131072) == int64_t{16} << 30);
  // DeepSeek-V2's attention weights a layer, from its equations: W_DQ 5120 x 1536,
  // W_UQ and W_QR 1536 x 24576, W_DKV and W_KR 5120 x 576, W_UK and W_UV 512 x 16384 each,
  // W_O 16384 x 5120.
  CHECK(ProjectionWeights(**FindModel("deepseek-v2")) ==
        7864320 + 37748736 + 2949120 + 16777216 + 83886080);
  Has(Why(CacheBytes(llama, int64_t{1} << 60)), "tokens");
  Has(Why(CacheBytes(llama, 10, -2)), "-2");
}

}  // namespace
}  // namespace attn
