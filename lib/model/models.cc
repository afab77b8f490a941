// SPDX-License-Identifier: Apache-2.0
// Shapes of published models. Every figure is from the source named beside it.
#include "attn/cost.h"

namespace attn {
namespace {

constexpr ModelShape kModels[] = {
    {.id = "llama-3.1-8b",
     .name = "Llama 3.1 8B",
     .source = "Grattafiori et al. 2024, arXiv 2407.21783, table 3",
     .layers = 32,
     .attention_layers = 32,
     .d_model = 4096,
     .heads = 32,
     .kv_heads = 8,
     .d_head = 128,
     .query_scalar = 128},
    {.id = "qwen2.5-1.5b",
     .name = "Qwen2.5-1.5B",
     .source = "config.json of Qwen/Qwen2.5-1.5B-Instruct",
     .layers = 28,
     .attention_layers = 28,
     .d_model = 1536,
     .heads = 12,
     .kv_heads = 2,
     .d_head = 128,
     .query_scalar = 128},
    {.id = "deepseek-v2",
     .name = "DeepSeek-V2",
     .source = "DeepSeek-AI 2024, arXiv 2405.04434, section 3.1.2",
     .layers = 60,
     .attention_layers = 60,
     .d_model = 5120,
     .heads = 128,
     .kv_heads = 128,
     .d_head = 128,
     .d_latent = 512,
     .d_rope = 64,
     .d_query_latent = 1536,
     .query_scalar = 192},
    {.id = "gemma-2-27b",
     .name = "Gemma 2 27B",
     .source = "Gemma Team 2024, arXiv 2408.00118, table 1; config.json of google/gemma-2-27b",
     .layers = 46,
     .attention_layers = 46,
     .d_model = 4608,
     .heads = 32,
     .kv_heads = 16,
     .d_head = 128,
     .query_scalar = 144,
     .softcap = 50},
    {.id = "jamba",
     .name = "Jamba",
     .source = "Lieber et al. 2024, arXiv 2403.19887; config.json of ai21labs/Jamba-v0.1",
     .layers = 32,
     .attention_layers = 4,
     .d_model = 4096,
     .heads = 32,
     .kv_heads = 8,
     .d_head = 128,
     .query_scalar = 128},
    {.id = "qwen3-next-80b-a3b",
     .name = "Qwen3-Next-80B-A3B",
     .source = "model card of Qwen/Qwen3-Next-80B-A3B-Instruct",
     .layers = 48,
     .attention_layers = 12,
     .d_model = 2048,
     .heads = 16,
     .kv_heads = 2,
     .d_head = 256,
     .query_scalar = 256},
};

}  // namespace

std::span<const ModelShape> NamedModels() { return kModels; }

Result<const ModelShape*> FindModel(std::string_view id) {
  std::string ids;
  for (const ModelShape& model : kModels) {
    if (model.id == id) return &model;
    ids += ids.empty() ? "" : ", ";
    ids += model.id;
  }
  return Status(StatusCode::kNotFound, Message("model \"", id, "\" is not one of ", ids));
}

}  // namespace attn
