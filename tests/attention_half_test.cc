// SPDX-License-Identifier: Apache-2.0
// Tensors of bf16 and f16: attention against f32 on the widened inputs.
#include <cmath>

#include "attention_fuzz.h"
#include "executors.h"
#include "targets/targets.h"

namespace attn::testing {
namespace {

// `exact` holds what `half`, rounded from it, holds.
template <class S, size_t kRank>
void Round(const Tensor<float, kRank>& exact, const Tensor<S, kRank>& half) {
  std::vector<S> rounded;
  exact.ForEach([&](float& x) {
    rounded.push_back(RoundTo<S>(static_cast<double>(x)));
    x = ToFloat(rounded.back());
  });
  size_t k = 0;
  half.ForEach([&](S& x) { x = rounded[k++]; });
}

// Each element of `half` is that of `exact`, rounded once.
template <class S, size_t kRank>
void CheckRounded(const Tensor<S, kRank>& half, const Tensor<float, kRank>& exact) {
  std::vector<S> want;
  exact.ForEach([&](float x) { want.push_back(RoundTo<S>(static_cast<double>(x))); });
  size_t k = 0, different = 0;
  half.ForEach([&](S x) {
    const S other = want[k++];
    const bool both_nan = std::isnan(ToFloat(x)) && std::isnan(ToFloat(other));
    different += x.bits != other.bits && !both_nan ? 1 : 0;
  });
  CHECK(different == 0);
}

template <class S>
std::vector<uint16_t> Bits(const Tensor<S, 4>& half) {
  std::vector<uint16_t> bits;
  half.ForEach([&](S x) { bits.push_back(x.bits); });
  return bits;
}

bool SameNumbers(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return a.size() == b.size();
}

// Whether forward takes bf16 as it is, instead of widening it.
template <class S>
bool OnDotProducts(const Backend& backend, const Sizes& sizes, const AttentionOptions& options) {
  const bool flash = options.form == AttentionForm::kFlash ||
                     (options.form == AttentionForm::kAuto && sizes.queries > 8);
  return std::is_same_v<S, BFloat16> && flash && DotProductsOfBF16() != nullptr &&
         backend.f32 != PortableBackend().f32 && backend.Lanes(DType::kF32) == 16;
}

// A problem of 16 bits and the same one in f32.
template <class S>
struct Pair {
  Sizes sizes;
  Tensor<S, 4> q, k, v, o, d_o, dq, dk, dv;
  Tensor<float, 3> lse, d_lse;
  Tensor<float, 1> d_sinks;
  Problem<float> wide;
  Tensor<float, 4> wide_d_o, wide_dq, wide_dk, wide_dv;
  Tensor<float, 1> wide_d_sinks;

  Pair(const Sizes& s, const std::array<size_t, 4>& order, int64_t gap)
      : sizes(s),
        q({s.batch, s.heads, s.queries, s.d}, order, gap),
        k({s.batch, s.kv_heads, s.keys, s.d}, order, gap),
        v({s.batch, s.kv_heads, s.keys, s.dv}, order, gap),
        o({s.batch, s.heads, s.queries, s.dv}, order, gap),
        d_o(o.view().shape, order, gap),
        dq(q.view().shape, order, gap),
        dk(k.view().shape, order, gap),
        dv(v.view().shape, order, gap),
        lse({s.batch, s.heads, s.queries}),
        d_lse(lse.view().shape),
        d_sinks({s.heads}),
        wide(s),
        wide_d_o(o.view().shape),
        wide_dq(q.view().shape),
        wide_dk(k.view().shape),
        wide_dv(v.view().shape),
        wide_d_sinks({s.heads}) {}

  void Fill(Generator& generator) {
    wide.q.Fill(generator), wide.k.Fill(generator), wide.v.Fill(generator);
    wide_d_o.Fill(generator), d_lse.Fill(generator);
    Match();
  }
  // Whatever was done to the wide tensors.
  void Match() { Round(wide.q, q), Round(wide.k, k), Round(wide.v, v), Round(wide_d_o, d_o); }

  void CheckForward(const Backend& backend, const Rules& rules, const AttentionOptions& options) {
    const std::vector<double> exact = Run(backend, wide, rules, options);
    const Rules::For<S> with(rules);
    const Status status =
        AttentionForward<S>(backend, with({q, k, v}), options, {o.view(), lse.view()});
    REQUIRE_MESSAGE(status.ok(), status.message());
    if (OnDotProducts<S>(backend, sizes, options)) {
      CheckNear();
      CHECK(RelativeError(lse.Values(), wide.lse.Values()) <= 2 * kForwardTolerance<float>);
    } else {
      CheckRounded(o, wide.o);
      CHECK(SameNumbers(lse.Values(), wide.lse.Values()));
    }
  }

  // The weights are rounded to bf16, each by 2^-9 of its own size at most, and so is the result.
  void CheckNear() const {
    double largest = 0;
    wide.v.ForEach([&](float x) {
      if (std::isfinite(x)) largest = std::fmax(largest, std::fabs(static_cast<double>(x)));
    });
    const std::vector<double> want = wide.o.Values();
    size_t next = 0, wrong = 0;
    o.ForEach([&](S x) {
      const double got = static_cast<double>(ToFloat(x)), exact = want[next++];
      const bool fine = std::isfinite(exact) ? std::fabs(got - exact) <= 1.01 * 0x1p-8 * largest
                        : std::isnan(exact)  ? std::isnan(got)
                                             : got == exact;
      wrong += fine ? 0 : 1;
    });
    CHECK(wrong == 0);
  }

  void CheckBackward(const Backend& backend, const Rules& rules, const AttentionOptions& options) {
    const bool sinks = !rules.sinks.empty();
    // Of the same O: backward reads it.
    Tensor<float, 4> exact_o(o.view().shape);
    size_t at = 0;
    std::vector<float> rounded;
    o.ForEach([&](S x) { rounded.push_back(ToFloat(x)); });
    exact_o.ForEach([&](float& x) { x = rounded[at++]; });
    const Rules::For<S> with(rules);
    AttentionGradients<S> grad = {dq, dk, dv};
    if (sinks) grad.d_sinks = d_sinks;
    Status status =
        AttentionBackward<S>(backend, with({q, k, v}), options, {o, lse, d_o, d_lse}, grad);
    REQUIRE_MESSAGE(status.ok(), status.message());
    const Rules::For<float> wide_with(rules);
    AttentionGradients<float> wide_grad = {wide_dq, wide_dk, wide_dv};
    if (sinks) wide_grad.d_sinks = wide_d_sinks;
    status = AttentionBackward<float>(backend, wide_with(wide.inputs()), options,
                                      {exact_o, lse, wide_d_o, d_lse}, wide_grad);
    REQUIRE(status.ok());
    CheckRounded(dq, wide_dq);
    CheckRounded(dk, wide_dk);
    CheckRounded(dv, wide_dv);
    if (sinks) CHECK(SameNumbers(d_sinks.Values(), wide_d_sinks.Values()));
  }
};

TEST_CASE_TEMPLATE("half: attention is f32's on the widened tensors, rounded once", S, BFloat16,
                   Float16) {
  const Backwards threads(3);
  const int64_t problems = Problems(12, 40, 400);
  for (int64_t seed = 0; seed < problems; ++seed) {
    CAPTURE(seed);
    Draw draw(static_cast<uint64_t>(90000 + seed));
    const int64_t kv_heads = 1 + draw.Below(3);
    const Sizes sizes = {.batch = 1 + draw.Below(2),
                         .heads = kv_heads * (1 + draw.Below(3)),
                         .kv_heads = kv_heads,
                         .queries = draw.Length(),
                         .keys = draw.Length(),
                         .d = draw.Width(),
                         .dv = draw.Width()};
    Pair<S> pair(sizes, draw.Order(), draw.Below(3));
    pair.Fill(draw.generator());
    AttentionOptions options = DrawOptions(draw, sizes.keys, sizes.d);
    const Rules rules =
        DrawRules(draw, {sizes.batch, sizes.heads, sizes.queries, sizes.keys}, options);
    if (draw.OneIn(4)) {
      Strew(draw, pair.wide.k);
      Strew(draw, pair.wide.v);
      pair.Match();
    }
    for (const Backend& backend : Backends()) {
      CAPTURE(backend.name);
      pair.CheckForward(backend, rules, options);
      const std::vector<uint16_t> alone = Bits(pair.o);
      const Backend on = backend.On(threads);
      pair.CheckForward(on, rules, options);
      CHECK(Bits(pair.o) == alone);
      pair.CheckBackward(on, rules, options);
    }
  }
}

// contract.md: at most twice the error of a plain computation on the same rounded inputs, whose
// result is rounded to the type.
TEST_CASE_TEMPLATE("half: error against f64", S, BFloat16, Float16) {
  const Sizes sizes = {
      .batch = 1, .heads = 2, .kv_heads = 1, .queries = 65, .keys = 130, .d = 64, .dv = 48};
  Pair<S> pair(sizes, kTokensFirst, 0);
  Generator generator(5);
  pair.Fill(generator);
  Problem<double> exact(sizes);
  exact.CopyInputs(pair.wide);
  REQUIRE(exact.Forward(ReferenceBackend(), Causal()).ok());
  std::vector<double> plain;
  exact.o.ForEach([&](double x) { plain.push_back(static_cast<double>(ToFloat(RoundTo<S>(x)))); });
  const double allowed = 2 * RelativeError(plain, exact.o.Values());
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    REQUIRE(
        AttentionForward<S>(backend, {pair.q, pair.k, pair.v}, Causal(), {pair.o, pair.lse}).ok());
    std::vector<double> got;
    pair.o.ForEach([&](S x) { got.push_back(static_cast<double>(ToFloat(x))); });
    CHECK(RelativeError(got, exact.o.Values()) <= allowed);
    CHECK(RelativeError(pair.lse.Values(), exact.lse.Values()) <= kForwardTolerance<float>);
  }
}

TEST_CASE_TEMPLATE("half: a cache in pages, and packed sequences", S, BFloat16, Float16) {
  const Sizes sizes = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 3, .keys = 48, .d = 20, .dv = 24};
  constexpr int64_t kPage = 8, kPages = 6;
  Pair<S> pair(sizes, kHeadsFirst, 0);
  Generator generator(11);
  pair.Fill(generator);
  // Pages in no order, those of both sequences mixed.
  std::vector<int64_t> table;
  for (int64_t p = 0; p < 2 * kPages; ++p) table.push_back(p * 5 % (2 * kPages));
  Tensor<S, 4> k({2 * kPages, 2, kPage, sizes.d}), v({2 * kPages, 2, kPage, sizes.dv});
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t g = 0; g < 2; ++g) {
      for (int64_t j = 0; j < sizes.keys; ++j) {
        const int64_t page = table[static_cast<size_t>(b * kPages + j / kPage)];
        for (int64_t c = 0; c < sizes.d; ++c) k(page, g, j % kPage, c) = pair.k(b, g, j, c);
        for (int64_t c = 0; c < sizes.dv; ++c) v(page, g, j % kPage, c) = pair.v(b, g, j, c);
      }
    }
  }
  const std::vector<int64_t> lengths = {41, 48}, borders = {0, 1, 3}, key_borders = {0, 20, 48};
  AttentionOptions options = Causal();
  options.form = AttentionForm::kDecode;
  options.kv_splits = 2;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    Rules rules;
    rules.kv_lens = lengths;
    Run(backend, pair.wide, rules, options);
    AttentionInputs<S> in = {pair.q, k, v};
    in.kv_lens = {lengths.data(), {2}};
    in.page_table = {table.data(), {2, kPages}};
    REQUIRE(AttentionForward<S>(backend, in, options, {pair.o, pair.lse}).ok());
    CheckRounded(pair.o, pair.wide.o);

    const auto first = [](const auto& tensor) {
      auto view = tensor.view();
      view.shape[0] = 1;
      return view;
    };
    const PackedSequences packed = {{borders.data(), {3}}, {key_borders.data(), {3}}};
    REQUIRE(AttentionForwardPacked<float>(
                backend, {first(pair.wide.q), first(pair.wide.k), first(pair.wide.v)}, packed,
                Causal(), {first(pair.wide.o), {}})
                .ok());
    REQUIRE(AttentionForwardPacked<S>(backend, {first(pair.q), first(pair.k), first(pair.v)},
                                      packed, Causal(), {first(pair.o), {}})
                .ok());
    CheckRounded(pair.o, pair.wide.o);
  }
}

TEST_CASE("half: what a backend supports, and bad input") {
  for (const Backend& backend : Backends()) {
    CHECK(backend.Supports(Op::kAttentionForward, DType::kBF16));
    CHECK(backend.Supports(Op::kAttentionDecode, DType::kF16));
    CHECK_FALSE(backend.Supports(Op::kMatmul, DType::kF16));
    CHECK(backend.Lanes(DType::kBF16) == backend.Lanes(DType::kF32));
  }
  Pair<BFloat16> pair(
      {.batch = 1, .heads = 1, .kv_heads = 1, .queries = 2, .keys = 2, .d = 4, .dv = 4},
      kHeadsFirst, 0);
  AttentionInputs<BFloat16> in = {pair.q, pair.k, pair.v};
  in.k.shape[3] = 3;
  const Status status = AttentionForward<BFloat16>(ReferenceBackend(), in, {}, {pair.o, pair.lse});
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message() == "K has width 3, Q has width 4");
}

}  // namespace
}  // namespace attn::testing
