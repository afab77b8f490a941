// SPDX-License-Identifier: Apache-2.0
// The matrix product on shapes around its tiles, panels and blocks, in every layout.
#include "attn/matmul.h"

#include "attention_problem.h"
#include "executors.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

template <class T>
struct Random : Tensor<T, 4> {
  Random(const Shape<4>& shape, std::array<size_t, 4> order, uint64_t seed)
      : Tensor<T, 4>(shape, order, 1) {
    Generator generator(seed);
    this->Fill(generator);
  }
};

// The product of the rounded inputs, in f64; plus `start`.
template <class T>
std::vector<double> Exact(const Tensor<T, 4>& a, const Tensor<T, 4>& b, double start) {
  std::vector<double> c;
  const auto [batch, heads, rows, depth] = a.view().shape;
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t m = 0; m < rows; ++m) {
        for (int64_t n = 0; n < b.view().shape[3]; ++n) {
          double sum = start;
          for (int64_t k = 0; k < depth; ++k) {
            sum += static_cast<double>(a(i, h, m, k)) * static_cast<double>(b(i, h, k, n));
          }
          c.push_back(sum);
        }
      }
    }
  }
  return c;
}

TEST_CASE_TEMPLATE("the product of matrices equals the sum of products", T, float, double) {
  const double allowed = sizeof(T) == 4 ? 2e-6 : 4e-15;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const int64_t lanes = backend.Lanes(DTypeOf<T>());
    for (const auto& [rows, depth, columns] :
         {Shape<3>{1, 1, 1}, Shape<3>{3, 0, 5}, Shape<3>{0, 4, 5}, Shape<3>{8, 128, 2 * lanes},
          Shape<3>{9, 129, 2 * lanes + 1}, Shape<3>{7, 300, lanes - 1}, Shape<3>{50, 65, 40},
          Shape<3>{5, 63, lanes + 1}}) {
      CAPTURE(rows);
      CAPTURE(depth);
      CAPTURE(columns);
      for (const auto& [order_a, order_b, order_c] :
           {std::array{kHeadsFirst, kHeadsFirst, kHeadsFirst},
            std::array{kWidthFirst, kWidthFirst, kWidthFirst},
            std::array{kTokensFirst, kBatchLast, kTokensFirst},
            std::array{kBatchLast, kTokensFirst, kBatchLast}}) {
        const Random<T> a({2, 1, rows, depth}, order_a, 1);
        const Random<T> b({2, 1, depth, columns}, order_b, 2);
        const Tensor<T, 4> c({2, 1, rows, columns}, order_c, 2);
        c.Fill(NAN);
        REQUIRE(Matmul<T>(backend, a, b, c).ok());
        CHECK(RelativeError(c.Values(), Exact(a, b, 0)) <= allowed);
        const std::vector<double> once = c.Values();
        c.Fill(T{3});
        REQUIRE(Matmul<T>(backend, a, b, c, Into::kAdd).ok());
        CHECK(RelativeError(c.Values(), Exact(a, b, 3)) <= 2 * allowed);
        const Backwards backwards(3);
        REQUIRE(Matmul<T>(backend.On(backwards), a, b, c).ok());
        CHECK(c.Values() == once);
      }
    }
  }
}

TEST_CASE("an input of stride 0 is one matrix for all") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Random<float> a({2, 3, 5, 7}, kHeadsFirst, 3);
    const Random<float> one({1, 1, 7, 6}, kHeadsFirst, 4);
    const View<float, 4> v = one.view();
    const View<const float, 4> all(v.data, {2, 3, 7, 6}, {0, 0, v.strides[2], v.strides[3]});
    const Tensor<float, 4> c({2, 3, 5, 6});
    REQUIRE(Matmul<float>(backend, a, all, c).ok());
    double sum = 0;
    for (int64_t k = 0; k < 7; ++k) {
      sum += static_cast<double>(a(1, 2, 4, k)) * static_cast<double>(one(0, 0, k, 5));
    }
    CHECK(static_cast<double>(c(1, 2, 4, 5)) == doctest::Approx(sum));
  }
}

// The loss is linear in each factor, so a difference of any step is exact but for rounding.
TEST_CASE("gradients of a product, by formula and by differences") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Random<double> a({1, 2, 3, 5}, kHeadsFirst, 5);
    const Random<double> b({1, 2, 5, 4}, kWidthFirst, 6);
    const Random<double> g({1, 2, 3, 4}, kHeadsFirst, 7);
    const Tensor<double, 4> d_a(a.view().shape), d_b(b.view().shape), c(g.view().shape);
    if (!backend.Supports(Op::kMatmul, DType::kF64)) continue;
    REQUIRE(MatmulBackward<double>(backend, a, b, g, d_a, d_b).ok());
    const auto loss = [&] {
      REQUIRE(Matmul<double>(backend, a, b, c).ok());
      double sum = 0;
      const std::vector<double> values = c.Values(), weights = g.Values();
      for (size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
      return sum;
    };
    const auto check = [&](double& x, double gradient) {
      const double before = loss(), kept = x;
      x += 1;
      CHECK(loss() - before == doctest::Approx(gradient).epsilon(1e-12));
      x = kept;
    };
    check(a(0, 1, 2, 4), d_a(0, 1, 2, 4));
    check(a(0, 0, 0, 1), d_a(0, 0, 0, 1));
    check(b(0, 1, 4, 3), d_b(0, 1, 4, 3));
    check(b(0, 0, 2, 0), d_b(0, 0, 2, 0));
  }
}

TEST_CASE("NaN stays in its row and column, and bad factors are named") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Random<float> a({1, 1, 20, 30}, kHeadsFirst, 8);
    const Random<float> b({1, 1, 30, 50}, kHeadsFirst, 9);
    const Tensor<float, 4> c({1, 1, 20, 50});
    a(0, 0, 3, 7) = NAN;
    b(0, 0, 9, 11) = INFINITY;
    REQUIRE(Matmul<float>(backend, a, b, c).ok());
    int finite = 0;
    for (const double x : c.Values()) finite += std::isfinite(x) ? 1 : 0;
    CHECK(finite == 19 * 49);
    const Tensor<float, 4> short_b({1, 1, 29, 50});
    c.Fill(1.0f);
    CHECK(Matmul<float>(backend, a, short_b, c).message() ==
          "B: axis 2 has extent 29, needed is 30");
    const Tensor<float, 4> narrow({1, 1, 20, 49});
    CHECK(Matmul<float>(backend, a, b, narrow).message() ==
          "C: axis 3 has extent 49, needed is 50");
    for (const double x : c.Values()) CHECK(x == 1);
  }
}

}  // namespace
}  // namespace attn
