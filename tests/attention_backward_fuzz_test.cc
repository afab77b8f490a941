// SPDX-License-Identifier: Apache-2.0
// Attention backward on random problems, past the blocks of queries and of keys, every backend
// against the reference in f64; NaN and inf strewn into places that may or may not be seen.
#include "attention_fuzz.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

struct Extents {
  int64_t batch, heads, kv_heads, queries, keys, d, dv;
};

// Inputs, what forward left, what comes back.
template <class T>
struct Pass {
  Tensor<T, 4> q, k, v, o, d_o, dq, dk, dv;
  Tensor<T, 3> lse, d_lse;
  Tensor<T, 1> d_sinks;

  Pass(const Extents& e, const std::array<std::array<size_t, 4>, 4>& order, int64_t gap)
      : q({e.batch, e.heads, e.queries, e.d}, order[0], gap),
        k({e.batch, e.kv_heads, e.keys, e.d}, order[1], gap),
        v({e.batch, e.kv_heads, e.keys, e.dv}, order[2], gap),
        o({e.batch, e.heads, e.queries, e.dv}, order[3], gap),
        d_o({e.batch, e.heads, e.queries, e.dv}, order[0], gap),
        dq({e.batch, e.heads, e.queries, e.d}, order[1], gap),
        dk({e.batch, e.kv_heads, e.keys, e.d}, order[2], gap),
        dv({e.batch, e.kv_heads, e.keys, e.dv}, order[3], gap),
        lse({e.batch, e.heads, e.queries}),
        d_lse({e.batch, e.heads, e.queries}),
        d_sinks({e.heads}) {}

  template <class U>
  void CopyInputs(const Pass<U>& from) const {
    q.CopyFrom(from.q), k.CopyFrom(from.k), v.CopyFrom(from.v);
    d_o.CopyFrom(from.d_o), d_lse.CopyFrom(from.d_lse);
  }
  void Forward(const Rules& rules, const AttentionOptions& options) const {
    const Rules::For<T> with(rules);
    REQUIRE(AttentionForward<T>(ReferenceBackend(), with({q, k, v}), options, {o, lse}).ok());
  }
  void Backward(const Backend& backend, const Rules& rules, const AttentionOptions& options,
                bool with_d_lse) const {
    const T unwritten = static_cast<T>(NAN);
    dq.Fill(unwritten), dk.Fill(unwritten), dv.Fill(unwritten), d_sinks.Fill(unwritten);
    const Rules::For<T> with(rules);
    AttentionUpstream<T> up = {o, lse, d_o, {}};
    if (with_d_lse) up.d_lse = d_lse;
    AttentionGradients<T> grad = {dq, dk, dv, {}};
    if (!rules.sinks.empty()) grad.d_sinks = d_sinks;
    const Status status = AttentionBackward<T>(backend, with({q, k, v}), options, up, grad);
    REQUIRE_MESSAGE(status.ok(), status.message());
  }
};

// Relative to the largest gradient, or to a part of what it is a sum of, where that cancels. With
// inf or NaN among the inputs only finite gradients are compared: which of the two others become
// depends on where a sum overflows.
void Compare(std::vector<double> got, const std::vector<double>& want, double terms,
             double tolerance, bool strewn) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; strewn && i < want.size(); ++i) {
    if (!std::isfinite(want[i])) got[i] = want[i];
  }
  double largest = 0;
  for (const double x : want)
    largest = std::isfinite(x) ? std::fmax(largest, std::fabs(x)) : largest;
  const double error = RelativeError(got, want) * (largest == 0 ? 1 : largest);
  CHECK(error <= tolerance * std::fmax(largest, terms));
}

// What dK is a sum of, in size: a weight near 1/Sk and a difference dP - D of two sums of Dv
// products for each query of a group. Of one key the weights are 1, every difference and so dK is
// zero, and what a backend leaves is the rounding of Sq Hq/Hkv such sums.
double TermsOfDK(const Extents& e, const AttentionOptions& options) {
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(e.d)));
  const int64_t products = e.queries * (e.heads / e.kv_heads) * e.dv;
  const double size = std::sqrt(static_cast<double>(products)) / static_cast<double>(e.keys);
  return std::fmax(1, std::fabs(scale) * size);
}

template <class T>
void CompareBackends(uint64_t seed) {
  Draw draw(seed);
  Extents e = {};
  e.batch = 1 + draw.Below(2), e.kv_heads = 1 + draw.Below(2);
  e.heads = e.kv_heads * (1 + draw.Below(3));
  e.queries = draw.Length(), e.keys = draw.Length();
  e.d = draw.Width(), e.dv = draw.OneIn(2) ? e.d : draw.Width();
  const std::array order = {draw.Order(), draw.Order(), draw.Order(), draw.Order()};
  const Pass<T> pass(e, order, draw.OneIn(3) ? draw.Below(5) : 0);
  for (const auto* tensor : {&pass.q, &pass.k, &pass.v, &pass.d_o}) tensor->Fill(draw.generator());
  pass.d_lse.Fill(draw.generator());
  AttentionOptions options = DrawOptions(draw, e.keys, e.d);
  Rules rules;
  if (draw.OneIn(2)) rules = DrawRules(draw, {e.batch, e.heads, e.queries, e.keys}, options);
  const bool strewn = draw.OneIn(3), with_d_lse = draw.OneIn(2);
  for (const auto* tensor : {&pass.q, &pass.k, &pass.v, &pass.d_o}) {
    if (strewn && draw.OneIn(3)) Strew(draw, *tensor);
  }

  const std::array<size_t, 4> plain = {0, 1, 2, 3};
  const Pass<double> exact(e, {plain, plain, plain, plain}, 0);
  exact.CopyInputs(pass);
  exact.Forward(rules, options);
  exact.Backward(ReferenceBackend(), rules, options, with_d_lse);
  pass.o.CopyFrom(exact.o), pass.lse.CopyFrom(exact.lse);
  const double tolerance = kGradientTolerance<T>;
  for (const Backend& backend : Backends()) {
    if (!backend.Supports(Op::kAttentionBackward, DTypeOf<T>())) continue;
    CAPTURE(backend.name);
    pass.Backward(backend, rules, options, with_d_lse);
    Compare(pass.dq.Values(), exact.dq.Values(), 1, tolerance, strewn);
    Compare(pass.dk.Values(), exact.dk.Values(), TermsOfDK(e, options), tolerance, strewn);
    Compare(pass.dv.Values(), exact.dv.Values(), 1, tolerance, strewn);
    if (rules.sinks.empty()) continue;
    Compare(pass.d_sinks.Values(), exact.d_sinks.Values(), 1, tolerance, strewn);
  }
}

TEST_CASE("attention backward on random problems equals the reference") {
  const auto problems = static_cast<uint64_t>(Problems(30, 100, 2000));
  for (uint64_t seed = 0; seed < problems; ++seed) {
    CAPTURE(seed);
    CompareBackends<float>(seed);
    if (seed % 3 == 0) CompareBackends<double>(seed);
  }
}

}  // namespace
}  // namespace attn
