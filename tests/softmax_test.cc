// SPDX-License-Identifier: Apache-2.0
#include "attn/softmax.h"

#include <limits>

#include "testing.h"

namespace attn {
namespace {

using testing::kInf;
using testing::RelativeError;
using testing::Tensor;

// Softmax in long double where there is one: an oracle for the oracle.
std::vector<double> Expected(const std::vector<double>& x, double* lse) {
  long double max = -kInf, sum = 0;
  for (double v : x) max = std::fmax(max, static_cast<long double>(v));
  if (max == -kInf) {
    *lse = -kInf;
    return std::vector<double>(x.size(), 0.0);
  }
  for (double v : x) sum += std::exp(v - max);
  *lse = static_cast<double>(max + std::log(sum));
  std::vector<double> p;
  for (double v : x) p.push_back(static_cast<double>(std::exp(v - max) / sum));
  return p;
}

TEST_CASE_TEMPLATE("softmax of rows equals its definition at every width", T, float, double) {
  Generator generator(1);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const int64_t lanes = backend.Lanes(DTypeOf<T>());
    for (int64_t columns : {int64_t{0}, int64_t{1}, lanes - 1, lanes, lanes + 1, int64_t{5},
                            int64_t{100}, int64_t{257}}) {
      CAPTURE(columns);
      Tensor<T, 2> x({3, columns}), p({3, columns});
      Tensor<T, 1> lse({3});
      x.Fill(generator, 4);
      REQUIRE(SoftmaxRows<T>(backend, x, p, lse).ok());
      for (int64_t r = 0; r < 3; ++r) {
        std::vector<double> row, got;
        for (int64_t c = 0; c < columns; ++c) row.push_back(x(r, c)), got.push_back(p(r, c));
        double want_lse;
        const std::vector<double> want = Expected(row, &want_lse);
        CHECK(RelativeError(got, want) <= testing::kForwardTolerance<T>);
        CHECK(RelativeError({lse(r)}, {want_lse}) <= testing::kForwardTolerance<T>);
      }
    }
  }
}

TEST_CASE_TEMPLATE("the exponential keeps its contract", T, float, double) {
  // softmax([0, x]) = [1, e^x] / (1 + e^x): the ratio is the backend's own e^x.
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double cut_off = sizeof(T) == 4 ? -87 : -708;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    double worst = 0;
    for (double step = 0; step <= 20000; ++step) {
      const T x = static_cast<T>(cut_off * step / 20000);
      T row[2] = {0, x};
      View<T, 2> view(row, {1, 2});
      REQUIRE(SoftmaxRows<T>(backend, view, view).ok());
      const double want = std::exp(static_cast<double>(x));
      const double got = static_cast<double>(row[1]) / static_cast<double>(row[0]);
      // Relative error grows with |x|; the row's largest weight is 1.
      worst = std::fmax(worst, std::fabs(got / want - 1) / (epsilon * (4 + std::fabs(x))));
    }
    CHECK_MESSAGE(worst < 1, "in units of (4 + |x|) epsilon: ", worst);
    for (double x : {-kInf, 4 * cut_off, -1e30}) {
      T row[2] = {0, static_cast<T>(x)};
      View<T, 2> view(row, {1, 2});
      REQUIRE(SoftmaxRows<T>(backend, view, view).ok());
      CHECK(row[0] == 1);
      CHECK(row[1] == 0);
    }
  }
}

TEST_CASE_TEMPLATE("the logarithm of a row's sum keeps its contract", T, float, double) {
  // The LSE of n zeros is ln n: the sum of n ones is exact.
  Generator generator(0);
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (int64_t n = 1; n < 70000; n += 1 + n / 16) {
      CAPTURE(n);
      Tensor<T, 2> x({1, n}), p({1, n});
      Tensor<T, 1> lse({1});
      x.Fill(generator, 0);
      REQUIRE(SoftmaxRows<T>(backend, x, p, lse).ok());
      const double want = std::log(static_cast<double>(n));
      CHECK(std::abs(lse(0) - want) <= 1.5 * epsilon * std::max(want, std::log(2.0)));
    }
  }
}

TEST_CASE_TEMPLATE("empty and non-finite rows", T, float, double) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T lowest = std::numeric_limits<T>::lowest();
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (int64_t columns : {1, 3, 16, 19, 40}) {
      for (int64_t at = 0; at < columns; ++at) {
        CAPTURE(columns);
        CAPTURE(at);
        Tensor<T, 2> x({4, columns});
        Tensor<T, 1> lse({4});
        for (int64_t c = 0; c < columns; ++c) x(0, c) = -inf, x(1, c) = 1, x(2, c) = 1, x(3, c) = 1;
        x(1, at) = nan;
        x(2, at) = inf;
        for (int64_t c = 0; c < columns; ++c) x(3, c) = lowest;
        REQUIRE(SoftmaxRows<T>(backend, x, x, lse).ok());
        for (int64_t c = 0; c < columns; ++c) {
          CHECK(x(0, c) == 0);         // all hidden: no weight, no NaN
          CHECK(std::isnan(x(1, c)));  // NaN stays in its row
          CHECK(x(3, c) == doctest::Approx(1.0 / static_cast<double>(columns)));
        }
        CHECK(lse(0) == -inf);
        CHECK(std::isnan(lse(1)));
        CHECK(std::isnan(x(2, at)));  // inf - inf
        CHECK(lse(3) == lowest);
      }
    }
  }
}

TEST_CASE("softmax of rows takes any strides") {
  Generator generator(2);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    Tensor<float, 2> dense({5, 37}), transposed({5, 37}, {1, 0}, 3), out({5, 37}, {1, 0}, 1),
        want({5, 37});
    dense.Fill(generator);
    transposed.CopyFrom(dense);
    REQUIRE(SoftmaxRows<float>(backend, dense, want).ok());
    REQUIRE(SoftmaxRows<float>(backend, transposed, out).ok());
    CHECK(out.Values() == want.Values());
  }
}

TEST_CASE("softmax names what does not fit") {
  const Backend& backend = ReferenceBackend();
  Tensor<float, 2> x({2, 3}), p({2, 4});
  p.Fill(7.0f);
  const Status status = SoftmaxRows<float>(backend, x, p);
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.message() == "p is 2 x 4, x is 2 x 3");
  CHECK(p(1, 3) == 7.0f);
  Tensor<float, 1> lse({3});
  CHECK(SoftmaxRows<float>(backend, x, x, lse).message() == "lse has 3 entries, x has 2 rows");
  const View<float, 2> everywhere(x.view().data, {2, 3}, {0, 1});
  CHECK(SoftmaxRows<float>(backend, x, everywhere).message() ==
        "p: an output cannot have stride 0 (axis 0 of extent 2)");
}

TEST_CASE("softmax of nothing is refused when there should be something") {
  Tensor<double, 2> x({2, 3});
  Tensor<double, 1> one({3});
  x.Fill(0.0), one.Fill(0.0);
  const View<double, 2> absent(nullptr, {2, 3});
  const View<double, 1> no_row(nullptr, {3});
  const Backend& backend = ReferenceBackend();
  CHECK(SoftmaxRows<double>(backend, absent, x).message() == "x is absent, 6 elements are needed");
  CHECK(SoftmaxRows<double>(backend, x, absent).message() == "p is absent, 6 elements are needed");
  CHECK(SoftmaxJacobianProduct<double>(no_row, one, one).message() ==
        "p is absent, 3 elements are needed");
  CHECK(SoftmaxJacobianProduct<double>(one, no_row, one).message() ==
        "g is absent, 3 elements are needed");
  CHECK(SoftmaxJacobianProduct<double>(one, one, no_row).message() ==
        "out is absent, 3 elements are needed");
  CHECK(SoftmaxFiniteDifference<double>(no_row, 0, 1e-6, one).message() ==
        "z is absent, 3 elements are needed");
}

TEST_CASE("the Jacobian, its product and finite differences agree") {
  Generator generator(3);
  for (int64_t n : {1, 2, 3, 17, 64}) {
    CAPTURE(n);
    Tensor<double, 2> z({1, n}), p({1, n}), jacobian({n, n});
    Tensor<double, 1> g({n}), product({n}), column({n});
    z.Fill(generator);
    g.Fill(generator);
    REQUIRE(SoftmaxRows<double>(ReferenceBackend(), z, p).ok());
    const View<const double, 1> weights(p.view().data, {n});
    const View<const double, 1> scores(z.view().data, {n});
    REQUIRE(SoftmaxJacobian<double>(weights, jacobian).ok());
    REQUIRE(SoftmaxJacobianProduct<double>(weights, g, product).ok());
    for (int64_t i = 0; i < n; ++i) {
      double dot = 0, sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        dot += jacobian(i, j) * g(j);
        sum += jacobian(i, j);
        CHECK(jacobian(i, j) == doctest::Approx(jacobian(j, i)).epsilon(1e-15));
      }
      CHECK(std::fabs(dot - product(i)) < 1e-15 * static_cast<double>(n));
      CHECK(std::fabs(sum) < 1e-15);
    }
    for (int64_t j = 0; j < n; ++j) {
      REQUIRE(SoftmaxFiniteDifference<double>(scores, j, 1e-6, column).ok());
      for (int64_t i = 0; i < n; ++i) CHECK(std::fabs(column(i) - jacobian(i, j)) < 1e-6);
    }
  }
}

TEST_CASE("the Jacobian's functions name what does not fit") {
  Tensor<double, 1> three({3}), four({4});
  Tensor<double, 2> square({3, 4});
  three.Fill(0.25);
  four.Fill(0.25);
  CHECK(SoftmaxJacobian<double>(three, square).message() == "jacobian is 3 x 4, p has 3 entries");
  CHECK(SoftmaxJacobianProduct<double>(three, four, three).message() == "g has 4 entries, p has 3");
  CHECK(SoftmaxJacobianProduct<double>(three, three, four).message() ==
        "out has 4 entries, p has 3");
  CHECK(SoftmaxFiniteDifference<double>(three, 3, 1e-6, three).message() ==
        "j is 3, z has 3 entries");
  CHECK(SoftmaxFiniteDifference<double>(three, 0, 0, three).message() == "step is 0 or not finite");
}

}  // namespace
}  // namespace attn
