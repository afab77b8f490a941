// SPDX-License-Identifier: Apache-2.0
// Windows, masks, soft-cap, sinks and lengths, each by what it means; that every backend agrees on
// all of them together is attention_fuzz_test.cc's to show.
#include "attention_rules.h"

#include <limits>

namespace attn {
namespace {

using testing::kInf;

using namespace testing;  // NOLINT: the whole file is about these
// 1 where query i sees key j, as a mask of [1][1][queries][keys].
template <class Sees>
Rules Mask(int64_t queries, int64_t keys, Sees sees) {
  Rules rules;
  rules.keep_shape = {1, 1, queries, keys};
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) rules.keep.push_back(sees(i, j) ? 1 : 0);
  }
  return rules;
}

TEST_CASE_TEMPLATE("a window is the mask that it describes", T, float, double) {
  const Sizes sizes = {.heads = 2, .kv_heads = 1, .queries = 40, .keys = 230, .d = 8, .dv = 5};
  Problem<T> problem(sizes);
  problem.Fill(3);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    struct Case {
      std::optional<int64_t> left, right;
      bool causal;
    };
    const Case cases[] = {{0, 0, false},    {17, 3, false}, {{}, 5, false},
                          {100, {}, false}, {9, {}, true},  {9, 4, true}};
    for (const auto& [left, right, causal] : cases) {
      AttentionOptions options;
      options.window = {left, right};
      options.causal.enabled = causal;
      const Rules mask = Mask(40, 230, [&](int64_t i, int64_t j) {
        const int64_t at = i + 190;  // bottom right
        return (!left || j >= at - *left) && (!right || j <= at + *right) && (!causal || j <= at);
      });
      CHECK(RelativeError(Run(backend, problem, {}, options), Run(backend, problem, mask, {})) <=
            kForwardTolerance<T>);
    }
  }
}

TEST_CASE_TEMPLATE("what hides, hides whatever it is: NaN and inf behind it change nothing", T,
                   float, double) {
  const Sizes sizes = {.queries = 35, .keys = 220, .d = 5, .dv = 6};
  AttentionOptions window;
  window.window = {20, 10};
  Rules keep = Mask(35, 220, [](int64_t, int64_t j) { return j < 180 && j != 7; });
  Rules add = {.add_shape = {1, 1, 1, 220}, .add = std::vector<float>(220, 0.25f)};
  for (const size_t j : {7, 180, 219}) add.add[j] = -std::numeric_limits<float>::infinity();
  const Rules lens = {.kv_lens = {180}};
  struct Case {
    Rules rules;
    AttentionOptions options;
    std::vector<int64_t> hidden;
  };
  const Case cases[] = {{keep, {}, {7, 180, 219}},
                        {add, {}, {7, 180, 219}},
                        {lens, {}, {180, 200, 219}},
                        {{}, window, {0, 7, 164}}};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const Case& c : cases) {
      CAPTURE(&c - cases);
      Problem<T> problem(sizes);
      problem.Fill(5);
      const std::vector<double> clean = Run(backend, problem, c.rules, c.options);
      for (const double bad : {static_cast<double>(NAN), kInf, -kInf}) {
        for (const int64_t j : c.hidden) {
          for (int64_t x = 0; x < 5; ++x) problem.k(0, 0, j, x) = static_cast<T>(bad);
          for (int64_t x = 0; x < 6; ++x) problem.v(0, 0, j, x) = static_cast<T>(bad);
        }
        CHECK(RelativeError(Run(backend, problem, c.rules, c.options), clean) <=
              kForwardTolerance<T>);
      }
      // And in a seen place it shows.
      problem.v(0, 0, 190 - 15, 0) = static_cast<T>(NAN);
      const std::vector<double> seen = Run(backend, problem, c.rules, c.options);
      CHECK(std::any_of(seen.begin(), seen.end(), [](double x) { return std::isnan(x); }));
    }
  }
}

TEST_CASE_TEMPLATE("the lowest finite number in an additive mask hides nothing", T, float, double) {
  // Two keys, both with it: the row is the softmax of two scores that are equal by rounding.
  Problem<T> problem({.queries = 1, .keys = 2, .d = 1, .dv = 1});
  problem.q.Fill(T{0}), problem.k.Fill(T{0});
  problem.v(0, 0, 0, 0) = 1, problem.v(0, 0, 1, 0) = 3;
  const float lowest = std::numeric_limits<float>::lowest();
  const Rules rules = {.add_shape = {1, 1, 1, 2}, .add = {lowest, lowest}};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    Run(backend, problem, rules, {});
    CHECK(problem.o(0, 0, 0, 0) == 2);
    CHECK(problem.lse(0, 0, 0) == doctest::Approx(static_cast<double>(lowest)));
  }
}

TEST_CASE_TEMPLATE("soft-cap: c tanh(s / c), by the definition and at its ends", T, float, double) {
  // One query, two keys: the difference of their log-weights is that of the capped scores.
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const double cap : {1.0, 30.0, 1e4}) {
      for (const double score : {0.0, 1e-4, 0.3, -2.0, 25.0, 1e6}) {
        CAPTURE(cap);
        CAPTURE(score);
        Problem<T> problem({.queries = 1, .keys = 1, .d = 1, .dv = 1});
        problem.q.Fill(static_cast<T>(score)), problem.k.Fill(T{1}), problem.v.Fill(T{1});
        AttentionOptions options;
        options.softcap = cap;
        Run(backend, problem, {}, options);
        const double s = static_cast<double>(static_cast<T>(score));
        const double want = cap * std::tanh(s / cap), epsilon = std::numeric_limits<T>::epsilon();
        CHECK(std::fabs(problem.lse(0, 0, 0) - want) <= 4 * epsilon * std::fabs(want));
      }
    }
  }
}

TEST_CASE_TEMPLATE("a sink is one more key without a value", T, float, double) {
  const Sizes sizes = {.heads = 2, .kv_heads = 2, .queries = 20, .keys = 9, .d = 4, .dv = 3};
  const Rules rules = {.sinks = {1.5f, -std::numeric_limits<float>::infinity()}};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    Problem<T> problem(sizes), plain(sizes);
    problem.Fill(7), plain.CopyInputs(problem);
    Run(backend, problem, rules, Causal());  // queries 0 to 10 see no key
    Run(backend, plain, {}, Causal());
    for (int64_t i = 0; i < 20; ++i) {
      CAPTURE(i);
      const double lse = plain.lse(0, 0, i);
      const double want = i < 11 ? 1.5 : std::log(std::exp(1.5) + std::exp(lse));
      CHECK(problem.lse(0, 0, i) == doctest::Approx(want).epsilon(1e-6));
      for (int64_t c = 0; c < 3; ++c) {
        const double share = i < 11 ? 0 : std::exp(lse - want);
        CHECK(problem.o(0, 0, i, c) == doctest::Approx(share * plain.o(0, 0, i, c)).epsilon(1e-5));
        CHECK(problem.o(0, 1, i, c) == plain.o(0, 1, i, c));  // a sink of -inf is none
      }
      CHECK(problem.lse(0, 1, i) == plain.lse(0, 1, i));
    }
  }
}

}  // namespace
}  // namespace attn
