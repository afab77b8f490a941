// SPDX-License-Identifier: Apache-2.0
// What attention forward does at its edges: rows that see nothing, places that are not finite, the
// same bits, input that does not fit.
#include <limits>

#include "attention_problem.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

TEST_CASE_TEMPLATE("a row that sees no key has output 0 and LSE -inf", T, float, double) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 40, .keys = 10, .d = 4, .dv = 3};
    Problem<T> problem(sizes);
    problem.Fill(19);
    REQUIRE(problem.Forward(backend, Causal()).ok());  // query i sees keys up to i - 30
    for (int64_t i = 0; i < 40; ++i) {
      for (int64_t c = 0; c < 3; ++c) CHECK((problem.o(0, 0, i, c) == 0) == (i < 30));
      CHECK((problem.lse(0, 0, i) == -inf) == (i < 30));
    }
    // Scores of -inf hide as well as a mask does.
    problem.k.Fill(static_cast<T>(-inf));
    problem.q.Fill(T{1});
    REQUIRE(problem.Forward(backend, {}).ok());
    for (double o : problem.o.Values()) CHECK(o == 0);
    for (double lse : problem.lse.Values()) CHECK(lse == -inf);
  }
}

TEST_CASE_TEMPLATE("NaN and inf in a hidden place change nothing, in a seen place only its rows", T,
                   float, double) {
  constexpr int64_t kLength = 150;
  const Sizes sizes = {.queries = kLength, .keys = kLength, .d = 6, .dv = 21};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const auto& order : {kHeadsFirst, kWidthFirst}) {
      Problem<T> clean(sizes, order), dirty(sizes, order);
      clean.Fill(23);
      REQUIRE(clean.Forward(backend, Causal()).ok());
      for (int64_t at : {0, 3, 64, 100, 127, 128, 149}) {
        CAPTURE(at);
        for (int what = 0; what < 4; ++what) {
          CAPTURE(what);
          dirty.CopyInputs(clean);
          const T bad = what % 2 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                      : std::numeric_limits<T>::infinity();
          const bool in_value = what < 2;
          if (in_value) dirty.v(0, 0, at, 20) = bad;
          if (!in_value) dirty.k(0, 0, at, 5) = bad;
          REQUIRE(dirty.Forward(backend, Causal()).ok());
          for (int64_t i = 0; i < kLength; ++i) {
            for (int64_t c = 0; c < sizes.dv; ++c) {
              const T got = dirty.o(0, 0, i, c), want = clean.o(0, 0, i, c);
              if (i < at || (in_value && c != 20)) {
                // A block with a bad value goes another way, whose sums may round differently.
                CHECK(std::fabs(got - want) <= 1e-5);
              } else if (what != 3) {  // an inf in a key may be a score of -inf: hidden
                CHECK(!std::isfinite(got));
              }
            }
            if (i < at || in_value) CHECK(dirty.lse(0, 0, i) == clean.lse(0, 0, i));
          }
        }
      }
    }
  }
}

TEST_CASE("the same bits on every run, and for any panel that a query falls in") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 70, .keys = 300, .d = 24, .dv = 24};
    Problem<float> whole(sizes);
    whole.Fill(29);
    AttentionOptions options = Causal();
    options.form = AttentionForm::kFlash;
    REQUIRE(whole.Forward(backend, options).ok());
    const std::vector<double> first = whole.o.Values();
    for (int run = 0; run < 5; ++run) {
      whole.o.Fill(NAN);
      REQUIRE(whole.Forward(backend, options).ok());
      CHECK(whole.o.Values() == first);
    }
    for (int64_t begin : {1, 13, 31, 64}) {
      CAPTURE(begin);
      const int64_t rows = sizes.queries - begin;
      Problem<float> part({.queries = rows, .keys = 300, .d = 24, .dv = 24});
      AttentionInputs<float> inputs = whole.inputs();
      inputs.q = View<const float, 4>(&whole.q(0, 0, begin, 0), {1, 1, rows, 24});
      REQUIRE(AttentionForward<float>(backend, inputs, options, {part.o, part.lse}).ok());
      bool same = true;
      for (int64_t i = 0; i < rows; ++i) {
        same &= part.lse(0, 0, i) == whole.lse(0, 0, begin + i);
        for (int64_t c = 0; c < 24; ++c) same &= part.o(0, 0, i, c) == whole.o(0, 0, begin + i, c);
      }
      CHECK(same);
    }
  }
}

TEST_CASE("LSE is optional, and gaps between rows stay as they were") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Sizes sizes = {.queries = 5, .keys = 6, .d = 4, .dv = 3};
    Problem<float> problem(sizes, kHeadsFirst, 2);
    problem.Fill(31);
    REQUIRE(AttentionForward<float>(backend, problem.inputs(), {}, {problem.o, {}}).ok());
    for (double o : problem.o.Values()) CHECK(std::isfinite(o));
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t c = 3; c < 5; ++c) CHECK(std::isnan(problem.o(0, 0, i, c)));
    }
  }
}

TEST_CASE("what does not fit is named with both values, and outputs stay untouched") {
  struct Case {
    Sizes q, k, v, o;
    const char* message;
  };
  const Sizes good = {
      .batch = 2, .heads = 4, .kv_heads = 2, .queries = 3, .keys = 5, .d = 4, .dv = 6};
  const auto with = [&](auto change) {
    Sizes sizes = good;
    change(sizes);
    return sizes;
  };
  const Case cases[] = {
      {good, with([](Sizes& s) { s.d = 5; }), good, good, "K has width 5, Q has width 4"},
      {good, with([](Sizes& s) { s.batch = 1; }), good, good, "K has batch 1, Q has batch 2"},
      {good, with([](Sizes& s) { s.kv_heads = 3; }), good, good,
       "Q has 4 heads, not a multiple of K's 3"},
      {good, with([](Sizes& s) { s.kv_heads = 0; }), good, good,
       "Q has 4 heads, not a multiple of K's 0"},
      {good, good, with([](Sizes& s) { s.keys = 6; }), good, "V has length 6, K has length 5"},
      {good, good, with([](Sizes& s) { s.kv_heads = 4; }), good, "V has heads 4, K has heads 2"},
      {good, good, good, with([](Sizes& s) { s.queries = 2; }),
       "O: axis 2 has extent 2, needed is 3"},
      {with([](Sizes& s) { s.d = 0; }), with([](Sizes& s) { s.d = 0; }), good, good,
       "Q has width 0, at least 1 is needed"},
      {good, good, with([](Sizes& s) { s.dv = 0; }), with([](Sizes& s) { s.dv = 0; }),
       "V has width 0, at least 1 is needed"},
  };
  for (const Backend& backend : Backends()) {
    for (const Case& c : cases) {
      Problem<float> q(c.q), k(c.k), v(c.v), o(c.o);
      o.o.Fill(7.0f);
      const Status status = AttentionForward<float>(backend, {q.q, k.k, v.v}, {}, {o.o, {}});
      CHECK(status.code() == StatusCode::kInvalidArgument);
      CHECK(status.message() == c.message);
      for (double x : o.o.Values()) CHECK(x == 7);
    }
  }
  Problem<float> problem(good);
  AttentionInputs<float> inputs = problem.inputs();
  inputs.q.shape[2] = -1;
  CHECK(AttentionForward<float>(ReferenceBackend(), inputs, {}, {problem.o, {}}).message() ==
        "Q: extent -1 of axis 2");
  inputs.q.shape = {int64_t{1} << 31, int64_t{1} << 31, 2, 4};
  CHECK(AttentionForward<float>(ReferenceBackend(), inputs, {}, {problem.o, {}}).message() ==
        "Q: the bytes overflow at extent 2147483648 of axis 1");
  View<float, 4> flat = problem.o;
  flat.strides[3] = 0;
  CHECK(AttentionForward<float>(ReferenceBackend(), problem.inputs(), {}, {flat, {}}).message() ==
        "O: an output cannot have stride 0 (axis 3 of extent 6)");
}

TEST_CASE("a tensor without data, and a scale that is not finite") {
  const Sizes sizes = {.queries = 3, .keys = 4, .d = 2, .dv = 2};
  Problem<float> problem(sizes);
  problem.Fill(1);
  problem.o.Fill(7.0f);
  const AttentionInputs<float> good = problem.inputs();
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const auto message = [&](AttentionInputs<float> in, View<float, 4> o, double scale = 1) {
      AttentionOptions options;
      options.scale = scale;
      return AttentionForward<float>(backend, in, options, {o, {}}).message();
    };
    AttentionInputs<float> bad = good;
    bad.q.data = nullptr;
    CHECK(message(bad, problem.o) == "Q is absent, 6 elements are needed");
    bad = good, bad.k.data = nullptr;
    CHECK(message(bad, problem.o) == "K is absent, 8 elements are needed");
    bad = good, bad.v.data = nullptr;
    CHECK(message(bad, problem.o) == "V is absent, 8 elements are needed");
    View<float, 4> no_output = problem.o;
    no_output.data = nullptr;
    CHECK(message(good, no_output) == "O is absent, 6 elements are needed");
    CHECK(message(good, problem.o, NAN) == "scale is nan, a finite number is needed");
    CHECK(message(good, problem.o, INFINITY) == "scale is infinite, a finite number is needed");
  }
  for (double x : problem.o.Values()) CHECK(x == 7);
  // Nothing is needed where there is nothing: no keys, no data.
  AttentionInputs<float> empty = good;
  empty.k = View<const float, 4>(nullptr, {1, 1, 0, 2});
  empty.v = View<const float, 4>(nullptr, {1, 1, 0, 2});
  CHECK(AttentionForward<float>(DefaultBackend(), empty, {}, {problem.o, problem.lse}).ok());
  for (double x : problem.o.Values()) CHECK(x == 0);
}

TEST_CASE("offsets beyond 32 bits") {
  // The table of contract.md; no memory is touched.
  const auto offset = [](Shape<4> shape, Shape<4> at) {
    const View<float, 4> view(nullptr, shape);
    return view.Offset(at[0], at[1], at[2], at[3]);
  };
  CHECK(offset({1, 2097153, 16, 64}, {0, 2097152, 15, 63}) == 2147484671);
  CHECK(offset({40000, 1024, 1, 64}, {39999, 1023, 0, 63}) == 2621439999);
  CHECK(offset({8, 1048576, 8, 256}, {7, 1048575, 7, 255}) == 17179869183);
  CHECK(offset({70000, 64, 8, 128}, {69999, 63, 7, 127}) == 4587519999);
}

}  // namespace
}  // namespace attn
