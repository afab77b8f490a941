// SPDX-License-Identifier: Apache-2.0
// Few queries against a cache, contiguous or in pages, whole or in parts.
#include <numeric>

#include "attention_fuzz.h"
#include "executors.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

// The keys and values of a problem on pages in a random order; what no sequence uses holds NaN.
template <class T>
struct Pages {
  int64_t page_size, columns;
  Tensor<int64_t, 2> table;
  Tensor<T, 4> k, v;

  static int64_t Columns(int64_t keys, int64_t size) { return (keys + size - 1) / size; }
  static Shape<4> PagesOf(const Shape<4>& dense, int64_t size) {
    return {dense[0] * Columns(dense[2], size) + 2, dense[1], size, dense[3]};
  }

  Pages(Draw& draw, const Tensor<T, 4>& dense_k, const Tensor<T, 4>& dense_v,
        const std::vector<int64_t>& kv_lens, int64_t size)
      : page_size(size),
        columns(Columns(dense_k.view().shape[2], size)),
        table({dense_k.view().shape[0], columns}, {0, 1}, draw.Below(3)),
        k(PagesOf(dense_k.view().shape, size), draw.Order(), draw.Below(3)),
        v(PagesOf(dense_v.view().shape, size), draw.Order(), draw.Below(3)) {
    const auto [batch, heads, keys, d] = dense_k.view().shape;
    std::vector<int64_t> order(static_cast<size_t>(k.view().shape[0]));
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[static_cast<size_t>(draw.Below(static_cast<int64_t>(i) + 1))]);
    }
    size_t next = 0;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = kv_lens.empty() ? keys : kv_lens[static_cast<size_t>(b)];
      for (int64_t p = 0; p < columns; ++p) {
        const bool used = p * size < length;
        const int64_t page = table(b, p) = used ? order[next++] : int64_t{-7};
        for (int64_t slot = 0; used && slot < size && p * size + slot < length; ++slot) {
          for (int64_t h = 0; h < heads; ++h) {
            for (int64_t c = 0; c < d; ++c) k(page, h, slot, c) = dense_k(b, h, p * size + slot, c);
            for (int64_t c = 0; c < dense_v.view().shape[3]; ++c) {
              v(page, h, slot, c) = dense_v(b, h, p * size + slot, c);
            }
          }
        }
      }
    }
  }
};

template <class T>
void DecodesLikeTheReference(uint64_t problems) {
  for (uint64_t seed = 0; seed < problems; ++seed) {
    CAPTURE(seed);
    Draw draw(seed + 1'000'000);
    const int64_t batch = 1 + draw.Below(3), kv_heads = 1 + draw.Below(3);
    const int64_t heads = kv_heads * (1 + draw.Below(9));
    const int64_t queries = 1 + draw.Below(draw.OneIn(5) ? 20 : 8);
    const int64_t keys = draw.OneIn(4) ? draw.Below(9) : 1 + draw.Below(400);
    const int64_t d = draw.Width(), dv = draw.OneIn(2) ? d : draw.Width();
    Tensor<T, 4> q({batch, heads, queries, d}, draw.Order(), draw.Below(3));
    Tensor<T, 4> k({batch, kv_heads, keys, d}, draw.Order(), draw.Below(3));
    Tensor<T, 4> v({batch, kv_heads, keys, dv}, draw.Order(), draw.Below(3));
    Tensor<T, 4> o({batch, heads, queries, dv}, draw.Order(), draw.Below(3));
    Tensor<T, 3> lse({batch, heads, queries});
    q.Fill(draw.generator()), k.Fill(draw.generator()), v.Fill(draw.generator());
    AttentionOptions options = DrawOptions(draw, keys, d);
    options.form = AttentionForm::kAuto;
    Rules rules;
    if (draw.OneIn(2)) rules = DrawRules(draw, {batch, heads, queries, keys}, options);

    Problem<double> exact({batch, heads, kv_heads, queries, keys, d, dv});
    exact.q.CopyFrom(q), exact.k.CopyFrom(k), exact.v.CopyFrom(v);
    const Rules::For<double> exact_rules(rules);
    const Rules::For<T> rules_of_t(rules);
    AttentionOptions plain = options;
    plain.form = AttentionForm::kExplicit;
    REQUIRE(AttentionForward<double>(ReferenceBackend(), exact_rules(exact.inputs()), plain,
                                     {exact.o, exact.lse})
                .ok());
    const double size = Largest(exact.o.Values());
    const double allowed = testing::kForwardTolerance<T> *
                           (size == 0 ? 1 : std::fmax(1, Largest(v.Values()) / 4 / size));

    AttentionInputs<T> in = rules_of_t({q, k, v});
    std::optional<Pages<T>> pages;
    if (keys > 0 && !draw.OneIn(3)) {
      pages.emplace(draw, k, v, rules.kv_lens, 1 + draw.Below(draw.OneIn(2) ? 4 : 70));
      in.k = pages->k, in.v = pages->v, in.page_table = pages->table;
      if (rules.kv_lens.empty() && keys % pages->page_size != 0) {
        rules.kv_lens.assign(static_cast<size_t>(batch), keys);
        in.kv_lens = View<const int64_t, 1>(rules.kv_lens.data(), {batch});
      }
      // Masks are as long as the pages that a sequence may have.
      const int64_t room = pages->columns * pages->page_size;
      if (room != keys && (in.mask_keep.shape[3] > 1 || in.mask_add.shape[3] > 1)) continue;
      // Where queries stand depends on the length, which is the same.
    }
    const Backwards backwards(3);
    for (const Backend& backend : Backends()) {
      CAPTURE(backend.name);
      o.Fill(NAN), lse.Fill(NAN);
      const Status status = AttentionForward<T>(backend, in, options, {o, lse});
      REQUIRE_MESSAGE(status.ok(), status.message());
      const std::vector<double> got = o.Values(), got_lse = lse.Values();
      CHECK(RelativeError(got, exact.o.Values()) <= allowed);
      CHECK(RelativeError(got_lse, exact.lse.Values()) <= testing::kForwardTolerance<T>);
      o.Fill(NAN), lse.Fill(NAN);
      REQUIRE(AttentionForward<T>(backend.On(backwards), in, options, {o, lse}).ok());
      CHECK(o.Values() == got);
      CHECK(lse.Values() == got_lse);
    }
  }
}

TEST_CASE_TEMPLATE("decoding on random problems, paged and split, equals the reference", T, float,
                   double) {
  DecodesLikeTheReference<T>(testing::Problems(30, 100, 1000));
}

TEST_CASE("a long cache in any number of parts") {
  const Sizes sizes = {.heads = 4, .kv_heads = 2, .queries = 2, .keys = 5000, .d = 20, .dv = 24};
  Problem<float> problem(sizes);
  problem.Fill(3);
  Problem<double> exact(sizes);
  exact.CopyInputs(problem);
  AttentionOptions plain = Causal();
  plain.form = AttentionForm::kExplicit;
  REQUIRE(exact.Forward(ReferenceBackend(), plain).ok());
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t splits : {0, 1, 2, 7, 64, 5000, 9999}) {
      CAPTURE(splits);
      AttentionOptions options = Causal();
      options.form = AttentionForm::kDecode;
      options.kv_splits = splits;
      REQUIRE(problem.Forward(backend, options).ok());
      // The reference in f32 sums 5000 weights in a row.
      const double allowed = kForwardTolerance<float> * (&backend == &ReferenceBackend() ? 2 : 1);
      CHECK(RelativeError(problem.o.Values(), exact.o.Values()) <= allowed);
      CHECK(RelativeError(problem.lse.Values(), exact.lse.Values()) <= kForwardTolerance<float>);
    }
  }
}

// O and LSE of one query over keys of score `score` (an additive mask), in parts.
template <class T>
std::pair<double, double> InParts(const Backend& backend, const std::vector<T>& scores,
                                  const std::vector<T>& values, int64_t splits) {
  const auto keys = static_cast<int64_t>(scores.size());
  Tensor<T, 4> q({1, 1, 1, 1}), k({1, 1, keys, 1}), o({1, 1, 1, 1});
  Tensor<T, 3> lse({1, 1, 1});
  q.Fill(T{0}), k.Fill(T{0}), o.Fill(NAN), lse.Fill(NAN);
  AttentionInputs<T> in = {q, k, View<const T, 4>(values.data(), {1, 1, keys, 1})};
  in.mask_add = View<const T, 4>(scores.data(), {1, 1, 1, keys});
  AttentionOptions options;
  options.form = AttentionForm::kDecode;
  options.kv_splits = splits;
  const Status status = AttentionForward<T>(backend, in, options, {o, lse});
  REQUIRE_MESSAGE(status.ok(), status.message());
  return {static_cast<double>(o(0, 0, 0, 0)), static_cast<double>(lse(0, 0, 0))};
}

TEST_CASE_TEMPLATE("parts weigh by their keys, however large a penalty all have", T, float,
                   double) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const T penalty : {T{0}, T{1000}, T{-1e4f}, T{-1e9f}, std::numeric_limits<T>::lowest()}) {
      CAPTURE(penalty);
      for (const int64_t splits :
           {int64_t{1}, int64_t{2}, int64_t{4}, std::numeric_limits<int64_t>::max()}) {
        CAPTURE(splits);
        const auto [o, lse] =
            InParts<T>(backend, {penalty, penalty, penalty, kNone}, {1, 2, 3, 10}, splits);
        CHECK(o == doctest::Approx(2).epsilon(1e-6));
        CHECK(lse == doctest::Approx(static_cast<double>(penalty) + std::log(3)).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE_TEMPLATE("NaN in a visible value shows up, also where its part weighs nothing", T, float,
                   double) {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t splits : {1, 2, 4}) {
      CAPTURE(splits);
      const auto [o, lse] =
          InParts<T>(backend, {0, 0, -2000, -2000}, {1, 1, 1, static_cast<T>(NAN)}, splits);
      CHECK(std::isnan(o));
      CHECK(lse == doctest::Approx(std::log(2)).epsilon(1e-6));
    }
  }
}

TEST_CASE("what pages hold beyond a length, and pages of no sequence, are not read") {
  const int64_t table[] = {2, 0, 99, 1, -1, 99};
  const int64_t lens[] = {5, 0};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    Tensor<float, 4> q({2, 2, 1, 3}), k({3, 1, 3, 3}), v({3, 1, 3, 2}), o({2, 2, 1, 2});
    Tensor<float, 3> lse({2, 2, 1});
    q.Fill(1.0f), o.Fill(NAN), lse.Fill(NAN);
    k.Fill(NAN), v.Fill(NAN);
    const auto set = [&](int64_t page, int64_t slot, float value) {
      for (int64_t c = 0; c < 3; ++c) k(page, 0, slot, c) = 0;
      for (int64_t c = 0; c < 2; ++c) v(page, 0, slot, c) = value;
    };
    for (int64_t slot = 0; slot < 3; ++slot) set(2, slot, static_cast<float>(slot));
    set(0, 0, 7), set(0, 1, 10);
    AttentionInputs<float> in = {q, k, v};
    in.page_table = View<const int64_t, 2>(table, {2, 3});
    in.kv_lens = View<const int64_t, 1>(lens, {2});
    const Status status = AttentionForward<float>(backend, in, {}, {o, lse});
    REQUIRE_MESSAGE(status.ok(), status.message());
    CHECK(o(0, 1, 0, 1) == doctest::Approx(4));  // the mean of 0, 1, 2, 7, 10
    CHECK(lse(0, 0, 0) == doctest::Approx(std::log(5)));
    CHECK(o(1, 0, 0, 0) == 0);
    CHECK(lse(1, 1, 0) == -std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("bad pages are named") {
  Tensor<float, 4> q({2, 4, 1, 8}), k({5, 2, 16, 8}), v({5, 2, 16, 8}), o({2, 4, 1, 8});
  q.Fill(0.0f), k.Fill(0.0f), v.Fill(0.0f), o.Fill(3.0f);
  int64_t table[] = {0, 1, 2, 3, 4, 5};
  int64_t lens[] = {33, 32};
  AttentionInputs<float> in = {q, k, v};
  in.page_table = View<const int64_t, 2>(table, {2, 3});
  AttentionOptions options;
  const auto message = [&] {
    const Status status = AttentionForward<float>(DefaultBackend(), in, options, {o, {}});
    CHECK(!status.ok());
    for (const double x : o.Values()) CHECK(x == 3);
    return status.message();
  };
  CHECK(message() == "page_table[1][2] is 5, K has 5 pages");
  in.kv_lens = View<const int64_t, 1>(lens, {2});
  table[1] = -1;
  CHECK(message() == "page_table[0][1] is -1, K has 5 pages");
  table[1] = 1;
  lens[0] = 49;
  CHECK(message() == "kv_lens[0] is 49, needed is 0 to 48");
  lens[0] = 33;
  options.form = AttentionForm::kFlash;
  CHECK(message() == "page_table: only the form decode reads pages");
  options = {};
  options.kv_splits = -1;
  CHECK(message() == "kv_splits is -1, needed is 0 or more");
  options = {};
  in.page_table = View<const int64_t, 2>(table, {1, 6});
  CHECK(message() == "page_table has batch 1, Q has batch 2");
  in.page_table = View<const int64_t, 2>(table, {2, 3});
  CHECK(AttentionForward<float>(DefaultBackend(), in, options, {o, {}}).ok());
  const Tensor<float, 3> lse({2, 4, 1});
  const Status status =
      AttentionBackward<float>(DefaultBackend(), in, options, {o, lse, o, {}}, {q, k, v});
  CHECK(status.message() == "page_table: backward takes no pages");
}

}  // namespace
}  // namespace attn
