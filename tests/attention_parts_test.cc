// SPDX-License-Identifier: Apache-2.0
// Packed sequences, and the states of parts of the keys.
#include <limits>

#include "attention_rules.h"
#include "attn/merge.h"

namespace attn {
namespace {

using testing::kInf;

using namespace testing;  // NOLINT: the whole file is about these
// The sequences of 41 queries and 60 keys: one of them has no query, one no key.
const std::vector<int64_t> kQueriesAt = {0, 3, 3, 40, 41}, kKeysAt = {0, 5, 9, 9, 60};
const PackedSequences kSequences = {{kQueriesAt.data(), {5}}, {kKeysAt.data(), {5}}};
const std::vector<double> kSinks = {0.5, -0.25};

AttentionOptions Rule() {
  AttentionOptions options = Causal();
  options.window.left = 30;
  return options;
}

AttentionInputs<double> WithSinks(AttentionInputs<double> in) {
  in.sinks = {kSinks.data(), {2}};
  return in;
}

// Sequence s of a packed tensor, copied out.
void CopySequence(const Tensor<double, 4>& packed, const std::vector<int64_t>& at, size_t s,
                  const Tensor<double, 4>& to) {
  const Shape<4>& shape = to.view().shape;
  for (int64_t h = 0; h < shape[1]; ++h) {
    for (int64_t i = 0; i < shape[2]; ++i) {
      for (int64_t c = 0; c < shape[3]; ++c) to(0, h, i, c) = packed(0, h, at[s] + i, c);
    }
  }
}

// Whether sequence s of a packed tensor holds the same numbers.
bool SameSequence(const Tensor<double, 4>& packed, const std::vector<int64_t>& at, size_t s,
                  const Tensor<double, 4>& one) {
  Tensor<double, 4> copy(one.view().shape);
  CopySequence(packed, at, s, copy);
  return copy.Values() == one.Values();
}

struct PartGradients {
  Tensor<double, 4> d_o, dq, dk, dv;
  Tensor<double, 1> d_sinks;

  PartGradients(int64_t queries, int64_t keys)
      : d_o({1, 2, queries, 4}),
        dq({1, 2, queries, 6}),
        dk({1, 1, keys, 6}),
        dv({1, 1, keys, 4}),
        d_sinks({2}) {}
  AttentionGradients<double> views() const { return {dq, dk, dv, d_sinks}; }
};

TEST_CASE("packed sequences are the sequences, forward and backward") {
  Problem<double> all({.heads = 2, .kv_heads = 1, .queries = 41, .keys = 60, .d = 6, .dv = 4});
  PartGradients grad(41, 60);
  all.Fill(11);
  Generator generator(12);
  grad.d_o.Fill(generator);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const bool backward = backend.Supports(Op::kAttentionBackward, DType::kF64);
    all.o.Fill(NAN), all.lse.Fill(NAN), grad.dq.Fill(NAN), grad.dk.Fill(NAN), grad.dv.Fill(NAN);
    const AttentionInputs<double> in = WithSinks(all.inputs());
    REQUIRE(AttentionForwardPacked<double>(backend, in, kSequences, Rule(), {all.o, all.lse}).ok());
    const AttentionUpstream<double> up = {all.o, all.lse, grad.d_o};
    if (backward) {
      REQUIRE(
          AttentionBackwardPacked<double>(backend, in, kSequences, Rule(), up, grad.views()).ok());
    }
    std::vector<double> sinks = {0, 0};
    for (size_t s = 0; s < 4; ++s) {
      CAPTURE(s);
      const int64_t queries = kQueriesAt[s + 1] - kQueriesAt[s], keys = kKeysAt[s + 1] - kKeysAt[s];
      Problem<double> one(
          {.heads = 2, .kv_heads = 1, .queries = queries, .keys = keys, .d = 6, .dv = 4});
      PartGradients part(queries, keys);
      CopySequence(all.q, kQueriesAt, s, one.q);
      CopySequence(all.k, kKeysAt, s, one.k);
      CopySequence(all.v, kKeysAt, s, one.v);
      CopySequence(grad.d_o, kQueriesAt, s, part.d_o);
      const AttentionInputs<double> own = WithSinks(one.inputs());
      REQUIRE(AttentionForward<double>(backend, own, Rule(), {one.o, one.lse}).ok());
      CHECK(SameSequence(all.o, kQueriesAt, s, one.o));
      for (int64_t i = 0; i < queries; ++i) {
        for (int64_t h = 0; h < 2; ++h) CHECK(one.lse(0, h, i) == all.lse(0, h, kQueriesAt[s] + i));
      }
      if (!backward) continue;
      REQUIRE(
          AttentionBackward<double>(backend, own, Rule(), {one.o, one.lse, part.d_o}, part.views())
              .ok());
      CHECK(SameSequence(grad.dq, kQueriesAt, s, part.dq));
      CHECK(SameSequence(grad.dk, kKeysAt, s, part.dk));
      CHECK(SameSequence(grad.dv, kKeysAt, s, part.dv));
      for (int64_t h = 0; h < 2; ++h) sinks[static_cast<size_t>(h)] += part.d_sinks(h);
    }
    if (backward) CHECK(grad.d_sinks.Values() == sinks);
  }
}

TEST_CASE_TEMPLATE("merging the states of two halves of the keys gives the whole", T, float,
                   double) {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t split : {0, 1, 40, 99, 100}) {
      CAPTURE(split);
      Problem<T> whole({.queries = 12, .keys = 100, .d = 8, .dv = 5});
      whole.Fill(17);
      Run(backend, whole, {}, {});
      const auto part = [&](int64_t begin, int64_t keys, const Problem<T>& out) {
        AttentionInputs<T> in = whole.inputs();
        in.k.data += begin * in.k.strides[2], in.k.shape[2] = keys;
        in.v.data += begin * in.v.strides[2], in.v.shape[2] = keys;
        REQUIRE(AttentionForward<T>(backend, in, {}, {out.o, out.lse}).ok());
        return AttentionState<const T>{{&out.o(0, 0, 0, 0), {12, 5}}, {&out.lse(0, 0, 0), {12}}};
      };
      Problem<T> a({.queries = 12, .dv = 5}), b({.queries = 12, .dv = 5});
      const AttentionState<const T> left = part(0, split, a), right = part(split, 100 - split, b);
      Tensor<T, 2> o({12, 5});
      Tensor<T, 1> lse({12});
      REQUIRE(MergeStates<T>(left, right, {o, lse}).ok());
      CHECK(RelativeError(o.Values(), whole.o.Values()) <= kForwardTolerance<T>);
      CHECK(RelativeError(lse.Values(), whole.lse.Values()) <= kForwardTolerance<T>);
    }
  }
}

TEST_CASE("a state of LSE -inf is neutral, and its O is not read") {
  Tensor<double, 2> o({1, 2}), unwritten({1, 2}), to({1, 2});
  Tensor<double, 1> lse({1}), none({1}), to_lse({1});
  o(0, 0) = 3, o(0, 1) = -4, lse(0) = -700, none(0) = -kInf;  // `unwritten` holds NaN
  for (const bool first : {true, false}) {
    const AttentionState<const double> state = {o, lse}, empty = {unwritten, none};
    REQUIRE(MergeStates<double>(first ? state : empty, first ? empty : state, {to, to_lse}).ok());
    CHECK(to.Values() == o.Values());
    CHECK(to_lse(0) == -700);
  }
  lse(0) = kInf;
  REQUIRE(MergeStates<double>({unwritten, none}, {o, lse}, {to, to_lse}).ok());
  CHECK(to.Values() == o.Values());
  CHECK(to_lse(0) == kInf);
  lse(0) = -700;
  REQUIRE(MergeStates<double>({unwritten, none}, {unwritten, none}, {to, to_lse}).ok());
  CHECK(to.Values() == std::vector<double>{0, 0});
  CHECK(to_lse(0) == -kInf);
  Tensor<double, 2> wide({1, 3});
  CHECK(MergeStates<double>({o, lse}, {wide, lse}, {to, to_lse}).message() ==
        "O_b: axis 1 has extent 3, needed is 2");
}

}  // namespace
}  // namespace attn
