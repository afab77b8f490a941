// SPDX-License-Identifier: Apache-2.0
// Attention forward on random shapes, layouts, masks, sinks, lengths and scales, with NaN and inf
// strewn into places that may or may not be seen: every backend against the reference in f64.
#include "attention_fuzz.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

// Compares what is not finite in f64 only by "not finite": with inf in the inputs, whether a score
// becomes inf or NaN depends on where a sum in f32 overflows.
void CompareLoosely(std::vector<double> got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i])) got[i] = want[i];
  }
  CHECK(RelativeError(got, want) <= 4 * testing::kForwardTolerance<float>);
}

TEST_CASE("attention forward on random problems equals the reference") {
  const auto problems = static_cast<uint64_t>(testing::Problems(50, 150, 4000));
  for (uint64_t seed = 0; seed < problems; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const int64_t batch = 1 + draw.Below(2), kv_heads = 1 + draw.Below(3);
    const int64_t heads = kv_heads * (1 + draw.Below(3));
    const int64_t queries = draw.Length(), keys = draw.Length();
    const int64_t d = draw.Width(), dv = draw.OneIn(2) ? d : draw.Width();
    const int64_t gap = draw.OneIn(3) ? draw.Below(5) : 0;
    Tensor<float, 4> q({batch, heads, queries, d}, draw.Order(), gap);
    Tensor<float, 4> k({batch, kv_heads, keys, d}, draw.Order(), gap);
    Tensor<float, 4> v({batch, kv_heads, keys, dv}, draw.Order(), gap);
    Tensor<float, 4> o({batch, heads, queries, dv}, draw.Order(), gap);
    Tensor<float, 3> lse({batch, heads, queries});
    q.Fill(draw.generator()), k.Fill(draw.generator()), v.Fill(draw.generator());

    AttentionOptions options = DrawOptions(draw, keys, d);
    // Half of the problems are plain, as most are in practice.
    Rules rules;
    if (draw.OneIn(2)) rules = DrawRules(draw, {batch, heads, queries, keys}, options);
    const bool strewn = draw.OneIn(4);
    if (strewn && draw.OneIn(2)) Strew(draw, v);
    if (strewn && draw.OneIn(2)) Strew(draw, k);

    Tensor<double, 4> exact_q({batch, heads, queries, d}), exact_k({batch, kv_heads, keys, d}),
        exact_v({batch, kv_heads, keys, dv}), exact_o({batch, heads, queries, dv});
    Tensor<double, 3> exact_lse({batch, heads, queries});
    exact_q.CopyFrom(q), exact_k.CopyFrom(k), exact_v.CopyFrom(v);
    const Rules::For<double> exact_rules(rules);
    const Rules::For<float> float_rules(rules);
    AttentionOptions plain = options;
    plain.form = AttentionForm::kExplicit;
    REQUIRE(AttentionForward<double>(ReferenceBackend(), exact_rules({exact_q, exact_k, exact_v}),
                                     plain, {exact_o, exact_lse})
                .ok());
    // Relative to the largest output, or to a quarter of the largest value: where an output of one
    // element nearly cancels, its own size says nothing (1 problem of 4000).
    const double size = Largest(exact_o.Values());
    const double allowed = testing::kForwardTolerance<float> *
                           (size == 0 ? 1 : std::fmax(1, Largest(v.Values()) / 4 / size));
    for (const Backend& backend : Backends()) {
      CAPTURE(backend.name);
      o.Fill(NAN), lse.Fill(NAN);
      REQUIRE(AttentionForward<float>(backend, float_rules({q, k, v}), options, {o, lse}).ok());
      if (strewn) {
        CompareLoosely(o.Values(), exact_o.Values());
        continue;
      }
      CHECK(RelativeError(o.Values(), exact_o.Values()) <= allowed);
      CHECK(RelativeError(lse.Values(), exact_lse.Values()) <= testing::kForwardTolerance<float>);
    }
  }
}

}  // namespace
}  // namespace attn
