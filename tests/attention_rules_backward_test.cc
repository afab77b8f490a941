// SPDX-License-Identifier: Apache-2.0
// Gradients under the rules of softmax attention, and of a part of the keys.
#include "attention_rules.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

TEST_CASE_TEMPLATE("weights of a row of huge scores add up to 1, also backward", T, float, double) {
  // Two keys with a penalty of -1e30 each: half and half. LSE holds the penalty alone.
  Problem<T> p({.queries = 1, .keys = 2, .d = 1, .dv = 1});
  p.q.Fill(T{1}), p.k.Fill(T(0.5)), p.v(0, 0, 0, 0) = 1, p.v(0, 0, 1, 0) = 3;
  const Rules rules = {.add_shape = {1, 1, 1, 2}, .add = {-1e30f, -1e30f}};
  const Rules::For<T> with(rules);
  Tensor<T, 4> d_o({1, 1, 1, 1}), dq({1, 1, 1, 1}), dk({1, 1, 2, 1}), dv({1, 1, 2, 1});
  d_o.Fill(T{1});
  AttentionOptions options;
  options.scale = 1;
  for (const Backend& backend : Backends()) {
    if (!backend.Supports(Op::kAttentionBackward, DTypeOf<T>())) continue;
    CAPTURE(backend.name);
    Run(backend, p, rules, options);
    REQUIRE(AttentionBackward<T>(backend, with(p.inputs()), options, {p.o, p.lse, d_o, {}},
                                 {dq, dk, dv})
                .ok());
    CHECK(dv.Values() == std::vector<double>{0.5, 0.5});
    CHECK(dk.Values() == std::vector<double>{-0.5, 0.5});
    CHECK(dq.Values() == std::vector<double>{0});
  }
}

TEST_CASE("gradients under every rule equal central differences") {
  const Sizes sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 5, .keys = 7, .d = 3, .dv = 4};
  Problem<double> p(sizes);
  p.Fill(13);
  Generator generator(14);
  Rules rules = {.keep_shape = {2, 1, 5, 7}, .add_shape = {1, 4, 1, 7}, .kv_lens = {6, 7}};
  for (int i = 0; i < 70; ++i) rules.keep.push_back(generator.Random() < 0.8 ? 1 : 0);
  for (int i = 0; i < 28; ++i) rules.add.push_back(static_cast<float>(generator.StandardNormal()));
  rules.add[3] = -std::numeric_limits<float>::infinity();
  AttentionOptions options = Causal();
  options.window.left = 4;
  options.softcap = 2;
  Tensor<double, 1> sinks({4}), d_sinks({4});
  sinks.Fill(generator);
  const Rules::For<double> with(rules);
  const auto inputs = [&] {
    AttentionInputs<double> in = with(p.inputs());
    in.sinks = sinks;
    return in;
  };
  Tensor<double, 4> d_o({2, 4, 5, 4}), dq({2, 4, 5, 3}), dk({2, 2, 7, 3}), dv({2, 2, 7, 4});
  Tensor<double, 3> d_lse({2, 4, 5});
  d_o.Fill(generator), d_lse.Fill(generator);
  const auto loss = [&] {
    REQUIRE(AttentionForward<double>(ReferenceBackend(), inputs(), options, {p.o, p.lse}).ok());
    const std::vector<double> o = p.o.Values(), lse = p.lse.Values(), a = d_o.Values(),
                              b = d_lse.Values();
    double sum = 0;
    for (size_t i = 0; i < o.size(); ++i) sum += o[i] * a[i];
    for (size_t i = 0; i < lse.size(); ++i) sum += lse[i] * b[i];
    return sum;
  };
  loss();
  REQUIRE(AttentionBackward<double>(ReferenceBackend(), inputs(), options, {p.o, p.lse, d_o, d_lse},
                                    {dq, dk, dv, d_sinks})
              .ok());
  const auto differences = [&](const auto& tensor) {
    std::vector<double> values;
    tensor.ForEach([&](double& x) {
      const double before = x;
      x = before + 1e-5;
      const double above = loss();
      x = before - 1e-5;
      const double below = loss();
      x = before;
      values.push_back((above - below) / 2e-5);
    });
    return values;
  };
  CHECK(RelativeError(dq.Values(), differences(p.q)) < 1e-8);
  CHECK(RelativeError(dk.Values(), differences(p.k)) < 1e-8);
  CHECK(RelativeError(dv.Values(), differences(p.v)) < 1e-8);
  CHECK(RelativeError(d_sinks.Values(), differences(sinks)) < 1e-8);
}

TEST_CASE_TEMPLATE("a part of the keys, with O and LSE of all, has its part of the gradients", T,
                   float, double) {
  // What a ring of devices or a split over keys does: dQ adds up, dK and dV are the parts'.
  const Sizes sizes = {.heads = 2, .kv_heads = 1, .queries = 9, .keys = 30, .d = 4, .dv = 3};
  Problem<T> p(sizes);
  p.Fill(19);
  Tensor<T, 4> d_o({1, 2, 9, 3}), dq({1, 2, 9, 4}), dk({1, 1, 30, 4}), dv({1, 1, 30, 3});
  Tensor<T, 4> dq_part({1, 2, 9, 4}), dk_part({1, 1, 30, 4}), dv_part({1, 1, 30, 3});
  Generator generator(20);
  d_o.Fill(generator);
  for (const Backend& backend : Backends()) {
    if (!backend.Supports(Op::kAttentionBackward, DTypeOf<T>())) continue;
    CAPTURE(backend.name);
    Run(backend, p, {}, {});
    const AttentionUpstream<T> up = {p.o, p.lse, d_o};
    REQUIRE(AttentionBackward<T>(backend, p.inputs(), {}, up, {dq, dk, dv}).ok());
    std::vector<double> sum(dq.Values().size());
    for (const auto& [begin, keys] : {std::pair<int64_t, int64_t>{0, 11}, {11, 19}}) {
      const auto part = [&, from = begin, count = keys](auto view) {
        view.data += from * view.strides[2], view.shape[2] = count;
        return view;
      };
      const AttentionInputs<T> in = p.inputs();
      REQUIRE(AttentionBackward<T>(backend, {in.q, part(in.k), part(in.v)}, {}, up,
                                   {dq_part, part(dk_part.view()), part(dv_part.view())})
                  .ok());
      const std::vector<double> values = dq_part.Values();
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    CHECK(RelativeError(sum, dq.Values()) <= kGradientTolerance<T>);
    CHECK(RelativeError(dk_part.Values(), dk.Values()) <= kGradientTolerance<T>);
    CHECK(RelativeError(dv_part.Values(), dv.Values()) <= kGradientTolerance<T>);
  }
}

}  // namespace
}  // namespace attn
