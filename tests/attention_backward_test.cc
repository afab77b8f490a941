// SPDX-License-Identifier: Apache-2.0
// Gradients twice: against central differences of the forward pass, and against the formula
// dS = P o (dP - rowsum(P o dP)) written out with the weights, which backward never stores.
#include <limits>

#include "attn/attention.h"
#include "testing.h"

namespace attn {
namespace {

using testing::RelativeError;
using testing::Tensor;

struct GradientCase {
  int64_t heads, kv_heads, queries, keys, d, dv;
  bool causal;
};
constexpr GradientCase kCases[] = {
    {1, 1, 3, 3, 4, 4, true},  {1, 1, 6, 6, 4, 4, false}, {4, 2, 5, 7, 3, 5, true},
    {6, 1, 2, 9, 5, 2, false}, {2, 2, 8, 3, 4, 3, true},  // queries 0..4 see nothing
    {1, 1, 1, 1, 1, 1, false}, {2, 1, 0, 4, 2, 2, true},  {2, 1, 4, 0, 2, 2, true},
};

template <class T>
struct Gradients {
  Tensor<T, 4> q, k, v, o, d_o, dq, dk, dv;
  Tensor<T, 3> lse, d_lse;
  AttentionOptions options;

  explicit Gradients(const GradientCase& c)
      : q({1, c.heads, c.queries, c.d}),
        k({1, c.kv_heads, c.keys, c.d}),
        v({1, c.kv_heads, c.keys, c.dv}),
        o({1, c.heads, c.queries, c.dv}),
        d_o({1, c.heads, c.queries, c.dv}),
        dq({1, c.heads, c.queries, c.d}),
        dk({1, c.kv_heads, c.keys, c.d}),
        dv({1, c.kv_heads, c.keys, c.dv}),
        lse({1, c.heads, c.queries}),
        d_lse({1, c.heads, c.queries}) {
    options.causal.enabled = c.causal;
    Generator generator(41);
    q.Fill(generator);
    k.Fill(generator);
    v.Fill(generator);
    d_o.Fill(generator);
    d_lse.Fill(generator);
  }
  Status Forward(const Backend& backend) const {
    return AttentionForward<T>(backend, {q, k, v}, options, {o, lse});
  }
  Status Backward(const Backend& backend) const {
    const Status status = Forward(backend);
    if (!status.ok()) return status;
    return AttentionBackward<T>(backend, {q, k, v}, options, {o, lse, d_o, d_lse}, {dq, dk, dv});
  }
  // dO . O + dLSE . LSE, the loss whose gradient backward returns.
  double Loss() const {
    REQUIRE(Forward(ReferenceBackend()).ok());
    const std::vector<double> a = o.Values(), b = d_o.Values(), c = lse.Values(),
                              e = d_lse.Values();
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    for (size_t i = 0; i < c.size(); ++i) sum += std::isinf(c[i]) ? 0 : c[i] * e[i];
    return sum;
  }
  std::vector<double> CentralDifferences(const Tensor<T, 4>& input) const {
    constexpr double kStep = 1e-5;
    std::vector<double> differences;
    input.ForEach([&](T& x) {
      const T before = x;
      x = before + kStep;
      const double above = Loss();
      x = before - kStep;
      const double below = Loss();
      x = before;
      differences.push_back((above - below) / (2 * kStep));
    });
    return differences;
  }
};

TEST_CASE("the reference's gradients equal central differences") {
  for (const GradientCase& c : kCases) {
    CAPTURE(&c - kCases);
    Gradients<double> g(c);
    REQUIRE(g.Backward(ReferenceBackend()).ok());
    const std::vector<double> dq = g.dq.Values(), dk = g.dk.Values(), dv = g.dv.Values();
    CHECK(RelativeError(dq, g.CentralDifferences(g.q)) < 1e-8);
    CHECK(RelativeError(dk, g.CentralDifferences(g.k)) < 1e-8);
    CHECK(RelativeError(dv, g.CentralDifferences(g.v)) < 1e-8);
  }
}

TEST_CASE("the reference's gradients equal the formula with explicit weights") {
  for (const GradientCase& c : kCases) {
    CAPTURE(&c - kCases);
    Gradients<double> g(c);
    REQUIRE(g.Backward(ReferenceBackend()).ok());
    Tensor<double, 4> p({1, c.heads, c.queries, c.keys});
    REQUIRE(AttentionWeights<double>(g.q, g.k, g.options, {}, p).ok());
    Tensor<double, 4> dq({1, c.heads, c.queries, c.d}), dk({1, c.kv_heads, c.keys, c.d}),
        dv({1, c.kv_heads, c.keys, c.dv});
    dq.Fill(0.0), dk.Fill(0.0), dv.Fill(0.0);
    const double scale = 1 / std::sqrt(static_cast<double>(c.d));
    for (int64_t h = 0; h < c.heads; ++h) {
      const int64_t kv = h / (c.heads / c.kv_heads);
      for (int64_t i = 0; i < c.queries; ++i) {
        std::vector<double> dp(static_cast<size_t>(c.keys));
        double dot = 0;
        for (int64_t j = 0; j < c.keys; ++j) {
          double sum = g.d_lse(0, h, i);  // dLSE enters each dP, and leaves through none of dot
          for (int64_t e = 0; e < c.dv; ++e) sum += g.d_o(0, h, i, e) * g.v(0, kv, j, e);
          dp[static_cast<size_t>(j)] = sum;
          dot += p(0, h, i, j) * (sum - g.d_lse(0, h, i));
        }
        for (int64_t j = 0; j < c.keys; ++j) {
          const double ds = p(0, h, i, j) * (dp[static_cast<size_t>(j)] - dot);
          for (int64_t e = 0; e < c.d; ++e) {
            dq(0, h, i, e) += scale * ds * g.k(0, kv, j, e);
            dk(0, kv, j, e) += scale * ds * g.q(0, h, i, e);
          }
          for (int64_t e = 0; e < c.dv; ++e) dv(0, kv, j, e) += p(0, h, i, j) * g.d_o(0, h, i, e);
        }
      }
    }
    CHECK(RelativeError(g.dq.Values(), dq.Values()) < 1e-13);
    CHECK(RelativeError(g.dk.Values(), dk.Values()) < 1e-13);
    CHECK(RelativeError(g.dv.Values(), dv.Values()) < 1e-13);
  }
}

TEST_CASE("every backend's gradients equal the reference's in f64") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const GradientCase& c : kCases) {
      Gradients<float> g(c);
      const Status status = g.Backward(backend);
      if (!backend.Supports(Op::kAttentionBackward, DType::kF32)) {
        CHECK(status.code() == StatusCode::kUnsupported);
        CHECK(status.message() == backend.name + " has no attention backward of f32");
        continue;
      }
      REQUIRE(status.ok());
      Gradients<double> exact(c);
      exact.q.CopyFrom(g.q), exact.k.CopyFrom(g.k), exact.v.CopyFrom(g.v);
      exact.d_o.CopyFrom(g.d_o), exact.d_lse.CopyFrom(g.d_lse);
      REQUIRE(exact.Backward(ReferenceBackend()).ok());
      CHECK(RelativeError(g.dq.Values(), exact.dq.Values()) <= testing::kGradientTolerance<float>);
      CHECK(RelativeError(g.dk.Values(), exact.dk.Values()) <= testing::kGradientTolerance<float>);
      CHECK(RelativeError(g.dv.Values(), exact.dv.Values()) <= testing::kGradientTolerance<float>);
    }
  }
}

TEST_CASE("a hidden NaN reaches no gradient, and a row that sees nothing gives none") {
  const GradientCase c = {1, 1, 6, 4, 3, 3, true};  // query i sees keys 0..i-2
  Gradients<double> clean(c), dirty(c);
  REQUIRE(clean.Backward(ReferenceBackend()).ok());
  for (int64_t e = 0; e < 3; ++e) {
    CHECK(clean.dq(0, 0, 0, e) == 0);
    CHECK(clean.dq(0, 0, 1, e) == 0);
  }
  // Only query 5 sees key 3: what it holds reaches dq of row 5 and nothing of the others.
  dirty.k(0, 0, 3, 0) = NAN;
  dirty.v(0, 0, 3, 0) = NAN;
  REQUIRE(dirty.Backward(ReferenceBackend()).ok());
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t e = 0; e < 3; ++e) {
      CHECK(std::isnan(dirty.dq(0, 0, i, e)) == (i == 5));
      if (i < 5) CHECK(dirty.dq(0, 0, i, e) == clean.dq(0, 0, i, e));
    }
  }
}

TEST_CASE("backward names what does not fit") {
  const GradientCase c = {2, 1, 3, 4, 2, 5, false};
  Gradients<double> g(c);
  REQUIRE(g.Forward(ReferenceBackend()).ok());
  g.dq.Fill(7.0);
  Tensor<double, 4> wrong({1, 2, 3, 3});
  AttentionUpstream<double> upstream = {g.o, g.lse, wrong, {}};
  Status status = AttentionBackward<double>(ReferenceBackend(), {g.q, g.k, g.v}, g.options,
                                            upstream, {g.dq, g.dk, g.dv});
  CHECK(status.message() == "dO: axis 3 has extent 3, needed is 5");
  upstream.d_o = g.d_o;
  status = AttentionBackward<double>(ReferenceBackend(), {g.q, g.k, g.v}, g.options, upstream,
                                     {g.dq, g.dv, g.dk});
  CHECK(status.message() == "dK: axis 3 has extent 5, needed is 2");
  upstream.lse.data = nullptr;
  status = AttentionBackward<double>(ReferenceBackend(), {g.q, g.k, g.v}, g.options, upstream,
                                     {g.dq, g.dk, g.dv});
  CHECK(status.message() == "LSE is absent, 6 elements are needed");
  for (double x : g.dq.Values()) CHECK(x == 7);
}

}  // namespace
}  // namespace attn
