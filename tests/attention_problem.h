// SPDX-License-Identifier: Apache-2.0
// One attention problem with its tensors, and its error against the reference.
#ifndef ATTN_TESTS_ATTENTION_PROBLEM_H_
#define ATTN_TESTS_ATTENTION_PROBLEM_H_

#include "attn/attention.h"
#include "testing.h"

namespace attn::testing {

// Slowest to fastest axis.
constexpr std::array<size_t, 4> kHeadsFirst = {0, 1, 2, 3};   // [B][H][S][D]
constexpr std::array<size_t, 4> kTokensFirst = {0, 2, 1, 3};  // [B][S][H][D]
constexpr std::array<size_t, 4> kWidthFirst = {0, 1, 3, 2};   // [B][H][D][S]: last axis slowest
constexpr std::array<size_t, 4> kBatchLast = {1, 3, 2, 0};

struct Sizes {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, d = 4, dv = 4;
};

template <class T>
struct Problem {
  Tensor<T, 4> q, k, v, o;
  Tensor<T, 3> lse;

  explicit Problem(const Sizes& s, std::array<size_t, 4> order = kHeadsFirst, int64_t gap = 0)
      : q({s.batch, s.heads, s.queries, s.d}, order, gap),
        k({s.batch, s.kv_heads, s.keys, s.d}, order, gap),
        v({s.batch, s.kv_heads, s.keys, s.dv}, order, gap),
        o({s.batch, s.heads, s.queries, s.dv}, order, gap),
        lse({s.batch, s.heads, s.queries}) {}

  void Fill(uint64_t seed) {
    Generator generator(seed);
    q.Fill(generator);
    k.Fill(generator);
    v.Fill(generator);
  }
  template <class U>
  void CopyInputs(const Problem<U>& other) {
    q.CopyFrom(other.q);
    k.CopyFrom(other.k);
    v.CopyFrom(other.v);
  }
  AttentionInputs<T> inputs() const { return {q, k, v}; }
  Status Forward(const Backend& backend, const AttentionOptions& options) const {
    return AttentionForward<T>(backend, inputs(), options, {o, lse});
  }
};

// Errors of O and LSE against the reference in f64.
template <class T>
double ForwardError(const Backend& backend, const Problem<T>& problem, const Sizes& sizes,
                    const AttentionOptions& options) {
  Problem<double> exact(sizes);
  exact.CopyInputs(problem);
  REQUIRE(exact.Forward(ReferenceBackend(), options).ok());
  const Status status = problem.Forward(backend, options);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return std::fmax(RelativeError(problem.o.Values(), exact.o.Values()),
                   RelativeError(problem.lse.Values(), exact.lse.Values()));
}

inline AttentionOptions Causal() {
  AttentionOptions options;
  options.causal.enabled = true;
  return options;
}

}  // namespace attn::testing

#endif  // ATTN_TESTS_ATTENTION_PROBLEM_H_
