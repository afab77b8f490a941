// SPDX-License-Identifier: Apache-2.0
// Figures of steps 4 to 8: counts and ratios of named models.
#include <cmath>
#include <numeric>

#include "attn/cost.h"
#include "model/figures.h"

namespace attn::model {
namespace {

constexpr int64_t kPrompt = 131072, kHeadWidth = 128;

const ModelShape& Model(std::string_view id) { return **FindModel(id); }
const ModelShape& Llama() { return Model("llama-3.1-8b"); }
const ModelShape& DeepSeek() { return Model("deepseek-v2"); }
const ModelShape& Gemma() { return Model("gemma-2-27b"); }
const ModelShape& Jamba() { return Model("jamba"); }
const ModelShape& Qwen3Next() { return Model("qwen3-next-80b-a3b"); }

Status AddCount(const Result<int64_t>& count, Values& out) {
  if (count.ok()) out.Add(*count);
  return count.status();
}

// "3:21" reduced: "1:7".
std::string Ratio(int64_t a, const char* sign, int64_t b) {
  const int64_t divisor = std::gcd(a, b);
  return Message(a / divisor, sign, b / divisor);
}

Status SoftmaxFlops(const Experiments&, Values& out) {
  return AddCount(SoftmaxHeadFlops(kPrompt, kHeadWidth), out);
}

Status LinearFlops(const Experiments&, Values& out) {
  return AddCount(LinearHeadFlops(kPrompt, kHeadWidth), out);
}

Status FlopsRatio(const Experiments&, Values& out) {
  const Result<int64_t> softmax = SoftmaxHeadFlops(kPrompt, kHeadWidth);
  const Result<int64_t> linear = LinearHeadFlops(kPrompt, kHeadWidth);
  if (!softmax.ok()) return softmax.status();
  if (!linear.ok()) return linear.status();
  out.Add(static_cast<double>(*softmax) / static_cast<double>(*linear));
  return {};
}

Status LlamaWeights(const Experiments&, Values& out) {
  out.Add(static_cast<double>(ProjectionWeights(Llama())) / 1e6);
  return {};
}

Status LlamaProjectionFlops(const Experiments&, Values& out) {
  out.Add(static_cast<double>(ProjectionFlopsPerToken(Llama())) / 1e6);
  return {};
}

Status LlamaCrossoverToken(const Experiments&, Values& out) {
  out.Add(CrossoverToken(Llama()));
  return {};
}

Status LlamaCrossoverPrompt(const Experiments&, Values& out) {
  out.Add(CrossoverPrompt(Llama()));
  return {};
}

Status SixteenTimes(const Experiments&, Values& out) {
  constexpr int64_t kLengths[] = {kPrompt / 16, kPrompt};
  const Result<std::vector<CostRow>> rows = CostTable(Llama(), kLengths);
  if (!rows.ok()) return rows.status();
  const CostRow &few = (*rows)[0], &many = (*rows)[1];
  out.Add(static_cast<double>(many.head_scores) / static_cast<double>(few.head_scores));
  out.Add(static_cast<double>(many.model_projections) / static_cast<double>(few.model_projections));
  return {};
}

Status CircuitEntries(const Experiments&, Values& out) {
  const CircuitSize circuit = HeadCircuit(Llama());
  out.Add(static_cast<double>(circuit.entries) / 1e6);
  out.Add(circuit.factor_entries);
  return {};
}

Status RankBound(const Experiments&, Values& out) {
  out.Add(HeadCircuit(Llama()).rank_bound);
  return {};
}

Status HeadsCover(const Experiments&, Values& out) {
  out.Add(HeadCircuit(Llama()).heads_cover);
  return {};
}

Status LlamaCache(const Experiments&, Values& out) {
  out.Add(CacheNumbers(Llama()));
  out.Add(CacheNumbersUnshared(Llama()));
  return {};
}

Status CacheFactors(const Experiments&, Values& out) {
  out.Add(CacheSaving(Llama()));
  out.Add(MultiQuerySaving(Llama()));
  out.Add(CacheSaving(Model("qwen2.5-1.5b")));
  return {};
}

Status LatentKeys(const Experiments&, Values& out) {
  out.Add(DeepSeek().heads * DeepSeek().d_head);
  out.Add(DeepSeek().d_latent);
  return {};
}

Status LatentCache(const Experiments&, Values& out) {
  out.Add(CacheNumbers(DeepSeek()));
  out.Add(CacheNumbersUnshared(DeepSeek()));
  out.Add(CacheSaving(DeepSeek()));
  out.Add(EquivalentGroups(DeepSeek()));
  return {};
}

Status NumbersKept(const Experiments&, Values& out) {
  ATTN_RETURN_IF_ERROR(AddCount(Pairs(512, false), out));
  return AddCount(LinearStateNumbers(16), out);
}

Status GemmaScale(const Experiments&, Values& out) {
  out.Add(Gemma().query_scalar);
  out.Add(std::sqrt(static_cast<double>(Gemma().query_scalar)));
  out.Add(std::sqrt(static_cast<double>(Gemma().d_head)));
  out.Add(Gemma().softcap);
  return {};
}

Status JambaCache(const Experiments&, Values& out) {
  constexpr int64_t kGigabyte = int64_t{1} << 30;
  const Result<int64_t> bytes = CacheBytes(Jamba(), 256 * 1024);
  if (!bytes.ok()) return bytes.status();
  out.Add(Ratio(Jamba().attention_layers, ":", Jamba().layers - Jamba().attention_layers));
  out.Add(*bytes % kGigabyte == 0 ? Message(*bytes / kGigabyte, " GB") : Message(*bytes, " bytes"));
  return {};
}

Status Qwen3NextCache(const Experiments&, Values& out) {
  const ModelShape& m = Qwen3Next();
  out.Add(Message(m.layers - m.attention_layers, "/", m.layers));
  out.Add(CacheNumbers(m) * m.attention_layers);
  out.Add(Ratio(m.attention_layers, "/", m.layers));
  return {};
}

constexpr FigureRow kCountedFigures[] = {
    {"s4.flops_128k", 4, "softmax attention of one head, d=128, n=131072: 4 n^2 d FLOPs",
     Compare::kRounded, R"("8.8e12")", SoftmaxFlops},
    {"s4.flops_linear_128k", 4, "reordered: 4 n d^2 FLOPs", Compare::kRounded, R"("8.6e9")",
     LinearFlops},
    {"s4.ratio", 4, "n/d", Compare::kExact, R"("1024")", FlopsRatio},
    {"s4.llama_attn_weights", 4, "attention weights a layer of Llama 3.1 8B, millions",
     Compare::kRounded, R"("41.9")", LlamaWeights},
    {"s4.llama_proj_flops", 4, "projection FLOPs a token and layer, millions", Compare::kRounded,
     R"("83.9")", LlamaProjectionFlops},
    {"s4.crossover_token", 4, "position where scores+values cost what the projections cost",
     Compare::kExact, R"("5120")", LlamaCrossoverToken},
    {"s4.crossover_prompt", 4, "whole-prompt crossover", Compare::kExact, R"("10240")",
     LlamaCrossoverPrompt},
    {"s4.x16", 4, "sixteen times the tokens: scores grow by, projections grow by", Compare::kExact,
     R"(["256", "16"])", SixteenTimes},
    {"s5.wqk_entries", 5, "entries of W_QK of a Llama 3.1 8B head, millions; each factor",
     Compare::kRounded, R"(["16.8", "524288"])", CircuitEntries},
    {"s5.rank_bound", 5, "rank bound of W_QK and W_OV with d_head 128", Compare::kExact, R"("128")",
     RankBound},
    {"s5.heads_cover", 5, "heads x d_head", Compare::kExact, R"("4096")", HeadsCover},
    {"s5.qwen", 5, "Qwen2.5-1.5B-Instruct layer 0 head 0: rank, singular values #1, #128, #129",
     Compare::kRounded,
     R"({"W_QK": ["128", "12", "0.208", "6.04e-15"], "W_OV": ["128", "1.56", "0.0832", "1.06e-15"]})",
     nullptr, Verdict::kNeedsFile},
    {"s6.cache_gqa", 6, "cached numbers a token and layer: Llama 3.1 8B with 8 kv heads; with 32",
     Compare::kExact, R"(["2048", "8192"])", LlamaCache},
    {"s6.cache_factors", 6, "GQA saves, MQA would save, Qwen2.5-1.5B saves", Compare::kExact,
     R"(["4", "32", "6"])", CacheFactors},
    {"s6.mla_keys", 6, "DeepSeek-V2: key numbers of all heads; latent size (rank bound)",
     Compare::kExact, R"(["16384", "512"])", LatentKeys},
    {"s6.absorb_error", 6, "max |naive - absorbed|, d=64, d_c=16, H=4, d_h=8, n=10, float64",
     Compare::kOrder, R"("5.7e-13")", nullptr},
    {"s6.mla_cache", 6,
     "MLA cached numbers a token and layer; MHA with the same heads; ratio; equivalent GQA groups",
     Compare::kRounded, R"(["576", "32768", "57", "2.25"])", LatentCache},
    {"s7.recurrent_error", 7, "max |quadratic - recurrent|, n=512, d=16, float64", Compare::kOrder,
     R"("4.44e-16")", nullptr},
    {"s7.numbers_kept", 7, "numbers kept: grid, state", Compare::kExact, R"(["262144", "272"])",
     NumbersKept},
    {"s7.recall_1024", 7,
     "cosine recall of a linear memory with 1024 random pairs, d=64; softmax attention",
     Compare::kRounded, R"(["0.24", "1.00"])", nullptr},
    {"s7.recall_law", 7, "recall follows 1/sqrt(1 + n/d)", Compare::kCurve,
     R"json("1/sqrt(1+n/d)")json", nullptr},
    {"s7.mamba_gate", 7, "the simplest selective SSM is h = (1-g) h + g x", Compare::kIdentity,
     R"("theorem")", nullptr},
    {"rw.gemma", 8, "Gemma 2 27B: query_pre_attn_scalar, divisor, sqrt(128), softcap",
     Compare::kRounded, R"(["144", "12", "11.3", "50"])", GemmaScale},
    {"rw.jamba", 8, "Jamba attention : mamba layers; cache at 256K tokens", Compare::kExact,
     R"(["1:7", "4 GB"])", JambaCache},
    {"rw.qwen3next", 8,
     "Qwen3-Next-80B-A3B: recurrent layers of all; cached numbers a token; share of 48 attention "
     "layers",
     Compare::kExact, R"(["36/48", "12288", "1/4"])", Qwen3NextCache},
};

}  // namespace

std::span<const FigureRow> CountedFigures() { return kCountedFigures; }

}  // namespace attn::model
