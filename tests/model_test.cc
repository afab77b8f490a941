// SPDX-License-Identifier: Apache-2.0
// The experiments: identities, and what bad input is told.
#include <cmath>
#include <limits>
#include <numeric>

#include "attn/article.h"
#include "attn/experiment.h"
#include "testing.h"

namespace attn {
namespace {

using testing::Has;
using testing::kInf;
using testing::Why;

LookupInput<double> ThreeTokens() { return {3, 3, 4, 4, ArticleQ(), ArticleK(), ArticleV()}; }

TEST_CASE("step 1: the soft lookup of every backend is the reference's") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kAttentionForward, DType::kF64)) continue;
    for (bool causal : {false, true}) {
      const LookupOptions options = {.causal = causal};
      const auto want = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), options);
      const auto got = SoftLookup<double>(backend, ThreeTokens(), options);
      REQUIRE(want.ok());
      REQUIRE(got.ok());
      CHECK(testing::RelativeError(got->weights, want->weights) < 1e-14);
      CHECK(testing::RelativeError(got->output, want->output) < 1e-14);
      CHECK(testing::RelativeError(got->lse, want->lse) < 1e-14);
      CHECK(got->hard_key == want->hard_key);
    }
  }
}

TEST_CASE("step 1: weights, sums and outputs belong together") {
  const auto r = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), {});
  REQUIRE(r.ok());
  for (size_t i = 0; i < 3; ++i) {
    double weights = 0, exps = 0;
    for (size_t j = 0; j < 3; ++j) {
      weights += r->weights[3 * i + j];
      exps += r->exps[3 * i + j];
      CHECK(r->scores[3 * i + j] == r->dots[3 * i + j] / 2);
      CHECK(r->naive[3 * i + j] == doctest::Approx(r->weights[3 * i + j]).epsilon(1e-15));
    }
    CHECK(weights == doctest::Approx(1).epsilon(1e-15));
    CHECK(exps == r->sums[i]);
    CHECK(std::exp(r->lse[i]) == doctest::Approx(exps).epsilon(1e-15));
    CHECK(r->leak[i] == 0);
  }
  // Token 3's best key is token 1, and the hard lookup returns exactly its value.
  CHECK(r->hard_key[2] == 0);
  CHECK(std::vector<double>(r->hard_output.begin() + 8, r->hard_output.end()) ==
        std::vector<double>{1, 0, 1, 0});
}

TEST_CASE("step 1: the ways of hiding a score, from right to wrong") {
  const uint8_t first_row[] = {1, 1, 1, 0, 0, 0, 0, 0, 0};
  LookupOptions options = {.hidden = first_row};
  const auto at = [&](HiddenScore kind) {
    options.hidden_score = kind;
    auto result = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), options);
    REQUIRE(result.ok());
    return *result;
  };

  SUBCASE("-inf: the plain formula gives NaN, the definition 0 and LSE -inf") {
    const auto r = at(HiddenScore::kMinusInfinity);
    for (size_t j = 0; j < 3; ++j) {
      CHECK(std::isnan(r.naive[j]));
      CHECK(r.weights[j] == 0);
      CHECK(r.output[j] == 0);
    }
    CHECK(r.lse[0] == -kInf);
    CHECK(r.hard_key[0] == -1);
    CHECK(r.leak[0] == 0);
    CHECK(r.weights[8] > 0);
  }
  SUBCASE("0: e^0 = 1, every hidden key leaks") {
    const auto r = at(HiddenScore::kZero);
    for (size_t j = 0; j < 3; ++j) CHECK(r.weights[j] == doctest::Approx(1.0 / 3));
    CHECK(r.leak[0] == doctest::Approx(1));
  }
  SUBCASE("a finite penalty: right in a row that sees something, an average in one that does not") {
    for (HiddenScore kind : {HiddenScore::kLowestFinite, HiddenScore::kMinusBillion}) {
      const auto r = at(kind);
      for (size_t j = 0; j < 3; ++j) CHECK(r.weights[j] == doctest::Approx(1.0 / 3));
      CHECK(r.leak[0] == doctest::Approx(1));
      LookupOptions causal = {.causal = true, .hidden_score = kind};
      const auto penalty = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), causal);
      causal.hidden_score = HiddenScore::kMinusInfinity;
      const auto infinite = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), causal);
      REQUIRE(penalty.ok());
      REQUIRE(infinite.ok());
      CHECK(penalty->weights == infinite->weights);
      CHECK(penalty->output == infinite->output);
    }
  }
}

TEST_CASE("step 1: what a hidden value holds stays out; a visible NaN shows in its rows") {
  std::vector<double> v(ArticleV().begin(), ArticleV().end());
  for (size_t c = 8; c < 12; ++c) v[c] = NAN;  // token 3's value
  LookupInput<double> input = ThreeTokens();
  input.v = v;
  const auto causal = SoftLookup<double>(ReferenceBackend(), input, {.causal = true});
  const uint8_t above[] = {0, 1, 1, 0, 0, 1, 0, 0, 0};
  const auto masked = SoftLookup<double>(ReferenceBackend(), input, {.hidden = above});
  for (const auto* r : {&causal, &masked}) {
    REQUIRE(r->ok());
    for (size_t i = 0; i < 8; ++i) CHECK(std::isfinite((*r)->output[i]));
    for (size_t i = 8; i < 12; ++i) CHECK(std::isnan((*r)->output[i]));
  }
}

TEST_CASE("step 1: sizes of 0, a scale of 0, and what does not fit") {
  const std::vector<double> none;
  CHECK(SoftLookup<double>(ReferenceBackend(), {0, 0, 4, 4, none, none, none}, {}).ok());
  const auto no_keys =
      SoftLookup<double>(ReferenceBackend(), {3, 0, 4, 4, ArticleQ(), none, none}, {});
  REQUIRE(no_keys.ok());
  CHECK(no_keys->output == std::vector<double>(12, 0.0));
  CHECK(no_keys->lse == std::vector<double>(3, -kInf));

  const auto flat = SoftLookup<double>(ReferenceBackend(), ThreeTokens(), {.scale = 0.0});
  REQUIRE(flat.ok());
  CHECK(flat->weights[0] == doctest::Approx(1.0 / 3));

  LookupInput<double> bad = ThreeTokens();
  bad.keys = 4;
  const std::string k_message = Why(SoftLookup<double>(ReferenceBackend(), bad, {}));
  Has(k_message, "k: 12 elements");
  Has(k_message, "4 x 4");
  bad = ThreeTokens();
  bad.width = 0;
  Has(Why(SoftLookup<double>(ReferenceBackend(), bad, {})), "width: 0");
  bad = ThreeTokens();
  bad.queries = -1;
  Has(Why(SoftLookup<double>(ReferenceBackend(), bad, {})), "queries: -1");
  const uint8_t short_mask[] = {1, 0};
  Has(Why(SoftLookup<double>(ReferenceBackend(), ThreeTokens(), {.hidden = short_mask})),
      "hidden: 2 elements");
  const LookupOptions odd = {.hidden_score = static_cast<HiddenScore>(9)};
  Has(Why(SoftLookup<double>(ReferenceBackend(), ThreeTokens(), odd)), "hidden_score: 9");
}

TEST_CASE("step 2: the pieces in which it runs do not change a digit") {
  ScalingExperiment whole(0, 40, 64), pieces(0, 40, 64);
  for (int64_t d : {16, 7}) {
    REQUIRE(whole.Begin(d).ok());
    CHECK(whole.Advance(40) == 0);
    REQUIRE(pieces.Begin(d).ok());
    CHECK(pieces.Advance(0) == 40);
    CHECK(pieces.Advance(-3) == 40);
    CHECK(pieces.Advance(13) == 27);
    Has(Why(pieces.Measure({})), "27 queries remain");
    while (pieces.Advance(13) > 0) {
    }
    CHECK(pieces.Advance(1000) == 0);
    const auto a = whole.Measure({}), b = pieces.Measure({});
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    CHECK(a->d == d);
    CHECK(a->spread == b->spread);
    CHECK(a->entropy == b->entropy);
    CHECK(a->histogram == b->histogram);
    CHECK(std::accumulate(a->histogram.begin(), a->histogram.end(), int64_t{0}) == 40 * 64);
    CHECK(a->low < a->high);
    CHECK(a->effective == doctest::Approx(std::exp(a->entropy)));
    CHECK(a->effective <= 64);
    CHECK(a->top >= 1.0 / 64);
  }
}

TEST_CASE("step 2: what each rule does to the spread and to the top weight") {
  ScalingExperiment experiment(1, 60, 128);
  REQUIRE(experiment.Begin(64).ok());
  experiment.Advance(60);
  const auto measure = [&](const ScoreRule& rule) {
    auto row = experiment.Measure(rule);
    REQUIRE(row.ok());
    return *row;
  };
  const ScalingRow raw = measure({.divisor = ScoreDivisor::kOne});
  const ScalingRow scaled = measure({});
  const ScalingRow by_d = measure({.divisor = ScoreDivisor::kD});
  CHECK(raw.spread == doctest::Approx(8 * scaled.spread));
  CHECK(scaled.spread == doctest::Approx(8 * by_d.spread));
  CHECK(scaled.spread == doctest::Approx(1).epsilon(0.1));
  CHECK(raw.top > scaled.top);
  CHECK(raw.entropy < scaled.entropy);
  // A learned temperature of 8 on raw scores is the division by sqrt(64).
  const ScalingRow warm = measure({.divisor = ScoreDivisor::kOne, .temperature = 8});
  CHECK(warm.entropy == doctest::Approx(scaled.entropy));
  // The cap bounds every score; a huge one changes nothing that can be seen.
  const ScalingRow capped = measure({.divisor = ScoreDivisor::kOne, .softcap = 5});
  CHECK(capped.high < 5);
  CHECK(capped.low > -5);
  CHECK(capped.saturated <= raw.saturated);
  const ScalingRow loose = measure({.softcap = 1e9});
  CHECK(loose.entropy == doctest::Approx(scaled.entropy));
  // After QK-norm no score exceeds d, divided by sqrt(d): 8.
  const ScalingRow normed = measure({.qk_norm = true});
  CHECK(normed.high <= 8);
  CHECK(normed.low >= -8);
  CHECK(normed.spread == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("step 2: one key takes everything, and bad sizes and rules are named") {
  ScalingExperiment one(5, 3, 1);
  REQUIRE(one.Begin(2).ok());
  one.Advance(3);
  const auto row = one.Measure({});
  REQUIRE(row.ok());
  CHECK(row->top == 1);
  CHECK(row->saturated == 1);
  CHECK(row->entropy == doctest::Approx(0));

  ScalingExperiment fresh(0, 10, 10);
  CHECK(fresh.Advance(5) == 0);
  Has(Why(fresh.Measure({})), "Begin");
  const auto begin = [](int64_t trials, int64_t keys, int64_t d) {
    return ScalingExperiment(0, trials, keys).Begin(d).message();
  };
  Has(begin(10, 10, 0), "d: 0");
  Has(begin(-1, 10, 4), "trials: -1");
  Has(begin(10, 1 << 20, 4), "keys: 1048576");
  Has(begin(65536, 65536, 4), "above 16777216");
  for (double temperature : {0.0, -1.0, static_cast<double>(NAN)}) {
    Has(Why(one.Measure({.temperature = temperature})), "temperature");
  }
  for (double cap : {-1.0, static_cast<double>(NAN)}) {
    Has(Why(one.Measure({.softcap = cap})), "softcap");
  }
  const int64_t ds[] = {4, 0};
  const ScoreRule rules[] = {{}};
  Has(Why(ScalingTable(ds, rules, 0, 10, 10)), "d: 0");
}

TEST_CASE("step 3: the Jacobian, nudged, multiplied and saturated") {
  const double z[] = {2, 0, 1, -3, 0.5};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kSoftmaxRows, DType::kF64)) continue;
    const auto s = SoftmaxSensitivity(backend, z, 1, 1e-6);
    REQUIRE(s.ok());
    CHECK(s->largest_difference < 1e-6);
    CHECK(s->largest_difference > 0);
    for (size_t i = 0; i < 5; ++i) {
      CHECK(std::fabs(s->row_sums[i]) < 1e-15);
      for (size_t j = 0; j < 5; ++j) {
        CHECK(s->jacobian[5 * i + j] == s->jacobian[5 * j + i]);
        CHECK((s->jacobian[5 * i + j] > 0) == (i == j));
      }
    }
    const double g[] = {1, -2, 0.25, 4, 3};
    const auto product = MultiplyJacobian(s->p, g);
    REQUIRE(product.ok());
    CHECK(testing::RelativeError(product->fast, product->slow) < 1e-14);
    CHECK(product->fast_operations == 19);
    CHECK(product->slow_operations == 45);
    // With one weight at exactly 1, diag(p) and p p^T are the same matrix.
    const auto flat = SoftmaxSensitivity(backend, z, 1000, 1e-6);
    REQUIRE(flat.ok());
    for (double entry : flat->jacobian) CHECK(entry == 0);
  }
  Has(Why(SoftmaxSensitivity(ReferenceBackend(), {}, 1, 1e-6)), "z: length 0");
  Has(Why(SoftmaxSensitivity(ReferenceBackend(), z, 1, 0)), "step");
  Has(Why(SoftmaxSensitivity(ReferenceBackend(), z, 1, kInf)), "step");
  Has(Why(MultiplyJacobian({}, {})), "p: length 0");
  Has(Why(MultiplyJacobian(z, ArticleQ())), "g: length 12, p has 5");
}

TEST_CASE("step 3: the backward pass equals complex-step derivatives") {
  for (const auto& [n, d] : {std::pair{6, 4}, {1, 1}, {5, 7}, {17, 3}}) {
    CAPTURE(n);
    const auto check = CheckBackward(ReferenceBackend(), 0, n, d);
    REQUIRE(check.ok());
    for (double error : {check->dq, check->dk, check->dv}) CHECK(error < 1e-14);
  }
  Has(Why(CheckBackward(ReferenceBackend(), 0, 0, 4)), "n: 0");
  Has(Why(CheckBackward(ReferenceBackend(), 0, 6, 65)), "d: 65");
}

}  // namespace
}  // namespace attn
