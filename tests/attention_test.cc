// SPDX-License-Identifier: Apache-2.0
// Every backend against the reference in f64 on the same rounded inputs; the reference against the
// definition written out with the weights.
#include <limits>

#include "attention_problem.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

TEST_CASE_TEMPLATE("attention forward equals the reference on lengths and widths that hurt", T,
                   float, double) {
  double worst = 0;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const int64_t lanes = backend.Lanes(DTypeOf<T>());
    for (int64_t n : {int64_t{1}, lanes - 1, lanes, lanes + 1, 2 * lanes + 1, int64_t{17},
                      int64_t{100}, int64_t{257}}) {
      for (int64_t d : {int64_t{1}, int64_t{5}, int64_t{7}, int64_t{20}, int64_t{64}}) {
        for (bool causal : {false, true}) {
          const Sizes sizes = {.queries = n, .keys = n, .d = d, .dv = d == 7 ? 11 : d};
          CAPTURE(n);
          CAPTURE(d);
          CAPTURE(causal);
          Problem<T> problem(sizes);
          problem.Fill(static_cast<uint64_t>(n * 1000 + d));
          AttentionOptions options;
          options.causal.enabled = causal;
          for (AttentionForm form :
               {AttentionForm::kFlash, AttentionForm::kExplicit, AttentionForm::kDecode}) {
            options.form = form;
            const double error = ForwardError(backend, problem, sizes, options);
            CHECK(error <= testing::kForwardTolerance<T>);
            worst = std::fmax(worst, error);
          }
        }
      }
    }
  }
  MESSAGE("largest error relative to the largest value: ", worst);
}

TEST_CASE("wide heads") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 33, .keys = 150, .d = 576, .dv = 512};
    Problem<float> problem(sizes);
    problem.Fill(5);
    CHECK(ForwardError(backend, problem, sizes, Causal()) <= testing::kForwardTolerance<float>);
  }
}

TEST_CASE_TEMPLATE("more or fewer queries than keys, wherever query 0 stands", T, float, double) {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{3, 200},
                                 {200, 3},
                                 {1, 129},
                                 {40, 40},
                                 {37, 0},
                                 {0, 37},
                                 {65, 64}}) {
      CAPTURE(queries);
      CAPTURE(keys);
      const Sizes sizes = {.queries = queries, .keys = keys, .d = 8, .dv = 6};
      Problem<T> problem(sizes);
      problem.Fill(7);
      AttentionOptions options = Causal();
      CHECK(ForwardError(backend, problem, sizes, options) <= testing::kForwardTolerance<T>);
      options.causal.align = Align::kTopLeft;
      CHECK(ForwardError(backend, problem, sizes, options) <= testing::kForwardTolerance<T>);
      for (int64_t offset :
           {int64_t{-1000000}, int64_t{-20}, int64_t{0}, int64_t{5}, int64_t{1000000},
            std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
        CAPTURE(offset);
        options.causal.query_offset = offset;
        CHECK(ForwardError(backend, problem, sizes, options) <= testing::kForwardTolerance<T>);
      }
    }
  }
}

TEST_CASE("query heads read their group's keys and values, in every layout") {
  const Sizes sizes = {
      .batch = 2, .heads = 6, .kv_heads = 2, .queries = 19, .keys = 45, .d = 12, .dv = 9};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const auto& order : {kHeadsFirst, kTokensFirst, kWidthFirst, kBatchLast}) {
      for (int64_t gap : {0, 3}) {
        Problem<float> problem(sizes, order, gap);
        problem.Fill(11);
        CHECK(ForwardError(backend, problem, sizes, Causal()) <= testing::kForwardTolerance<float>);
      }
    }
  }
}

TEST_CASE("a stride of 0 reads one row again and again") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 5, .keys = 70, .d = 8, .dv = 8};
    Problem<float> problem(sizes);
    problem.Fill(13);
    AttentionInputs<float> inputs = problem.inputs();
    inputs.k.strides[2] = 0;
    REQUIRE(AttentionForward<float>(backend, inputs, {}, {problem.o, problem.lse}).ok());
    // Equal keys: the output is the mean of the values.
    for (int64_t c = 0; c < 8; ++c) {
      double mean = 0;
      for (int64_t j = 0; j < 70; ++j) mean += problem.v(0, 0, j, c) / 70.0;
      for (int64_t i = 0; i < 5; ++i) CHECK(std::fabs(problem.o(0, 0, i, c) - mean) < 1e-6);
    }
  }
}

TEST_CASE("scale: absent, zero, negative") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 9, .keys = 30, .d = 5, .dv = 5};
    Problem<float> problem(sizes), same(sizes);
    problem.Fill(17);
    same.CopyInputs(problem);
    for (double scale : {0.0, -1.5, 1.0, 3.0}) {
      AttentionOptions options = Causal();
      options.scale = scale;
      CHECK(ForwardError(backend, problem, sizes, options) <= testing::kForwardTolerance<float>);
    }
    AttentionOptions explicit_scale;
    explicit_scale.scale = 1 / std::sqrt(5.0);
    REQUIRE(problem.Forward(backend, {}).ok());
    REQUIRE(same.Forward(backend, explicit_scale).ok());
    CHECK(problem.o.Values() == same.o.Values());
  }
}

TEST_CASE("the weights are the softmax of the scores, and the output their product with V") {
  const Sizes sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 7, .keys = 9, .d = 3, .dv = 5};
  Problem<double> problem(sizes);
  problem.Fill(37);
  Tensor<double, 4> scores({2, 4, 7, 9}), weights({2, 4, 7, 9});
  REQUIRE(AttentionWeights<double>(problem.q, problem.k, Causal(), scores, weights).ok());
  REQUIRE(problem.Forward(ReferenceBackend(), Causal()).ok());
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t h = 0; h < 4; ++h) {
      for (int64_t i = 0; i < 7; ++i) {
        double total = 0;
        for (int64_t j = 0; j < 9; ++j) {
          double dot = 0;
          for (int64_t c = 0; c < 3; ++c) dot += problem.q(b, h, i, c) * problem.k(b, h / 2, j, c);
          const bool visible = j <= i + 2;
          const double want = visible ? dot / std::sqrt(3.0) : -INFINITY;
          CHECK(RelativeError({scores(b, h, i, j)}, {want}) < 1e-15);
          CHECK(weights(b, h, i, j) ==
                doctest::Approx(visible ? std::exp(scores(b, h, i, j) - problem.lse(b, h, i)) : 0));
          total += weights(b, h, i, j);
        }
        CHECK(total == doctest::Approx(1));
        for (int64_t c = 0; c < 5; ++c) {
          double sum = 0;
          for (int64_t j = 0; j < 9; ++j) sum += weights(b, h, i, j) * problem.v(b, h / 2, j, c);
          CHECK(problem.o(b, h, i, c) == doctest::Approx(sum));
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn
