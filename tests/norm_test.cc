// SPDX-License-Identifier: Apache-2.0
#include "attn/norm.h"

#include <limits>

#include "kernels/tasks.h"
#include "row_widths.h"
#include "testing.h"

namespace attn {
namespace {

using testing::kGradientTolerance;
using testing::kWidthSlowest;
using testing::RelativeError;
using testing::RowWidths;
using testing::Tensor;

// Of each element on its own: a norm has no cancellation.
template <class T>
double LargestEpsilons(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  double most = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double unit = std::fabs(want[i]) * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double error = got[i] == want[i] ? 0 : std::fabs(got[i] - want[i]) / unit;
    most = std::isnan(error) ? INFINITY : std::fmax(most, error);
  }
  return most;
}

// Y in long double, from the definition.
template <class T>
std::vector<double> Expected(const Tensor<T, 4>& x, const Tensor<T, 1>& w, double eps) {
  const auto [n0, n1, n2, width] = x.view().shape;
  std::vector<double> y;
  for (int64_t r = 0; r < n0 * n1 * n2; ++r) {
    const auto at = [&](int64_t e) {
      return static_cast<long double>(x(r / (n1 * n2), r / n2 % n1, r % n2, e));
    };
    long double squares = 0;
    for (int64_t e = 0; e < width; ++e) squares += at(e) * at(e);
    const long double rms = std::sqrt(squares / static_cast<long double>(width) + eps);
    for (int64_t e = 0; e < width; ++e) {
      y.push_back(static_cast<double>(static_cast<long double>(w(e)) * at(e) / rms));
    }
  }
  return y;
}

TEST_CASE_TEMPLATE("RMS norm equals its definition, any layout, in place too", T, float, double) {
  Generator generator(21);
  double most = 0;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    // The reference adds in f64 one after the other, which for f64 is a random walk.
    const double allowed = backend.name == "reference" ? 32 : 4;
    for (const int64_t width : RowWidths(backend.Lanes(DTypeOf<T>()))) {
      CAPTURE(width);
      const Tensor<T, 4> x({2, 3, 7, width}, kWidthSlowest, 3), y({2, 3, 7, width});
      const Tensor<T, 4> dense({2, 3, 7, width}), apart({2, 3, 7, width}, {0, 2, 1, 3}, 5);
      const Tensor<T, 1> w({width}, {0}, 1);
      x.Fill(generator, 3), w.Fill(generator);
      dense.CopyFrom(x);
      const std::vector<double> want = Expected(x, w, 1e-6);
      REQUIRE(RmsNorm<T>(backend, dense, w, 1e-6, y).ok());
      const std::vector<double> once = y.Values();
      const double error = LargestEpsilons<T>(once, want);
      CHECK(error <= allowed);
      if (backend.name != "reference") most = std::fmax(most, error);
      // The same bits from every layout, the weight's too.
      const View<T, 1> v = w.view();
      std::vector<T> slow(static_cast<size_t>(3 * width));
      for (int64_t e = 0; e < width; ++e) slow[static_cast<size_t>(3 * e)] = w(e);
      const View<const T, 1> slow_w(slow.data(), v.shape, {3});
      REQUIRE(RmsNorm<T>(backend, x, slow_w, 1e-6, apart).ok());
      CHECK(apart.Values() == once);
      for (const Tensor<T, 4>* place : {&x, &dense}) {
        REQUIRE(RmsNorm<T>(backend, *place, w, 1e-6, *place).ok());
        CHECK(place->Values() == once);
      }
    }
  }
  MESSAGE("largest error of an element: ", most, " epsilon");
}

// Rounding that goes one way all along: a plain sum of 2^18 equal squares is off by hundreds.
TEST_CASE_TEMPLATE("RMS norm: the width of a row costs no accuracy", T, float, double) {
  constexpr int64_t kWidth = 1 << 18;
  const Tensor<T, 4> x({1, 1, 1, kWidth}), y({1, 1, 1, kWidth});
  const Tensor<T, 1> w({kWidth});
  x.Fill(T(1.1)), w.Fill(T{1});
  for (const Backend& backend : Backends()) {
    if (backend.name == "reference") continue;
    CAPTURE(backend.name);
    REQUIRE(RmsNorm<T>(backend, x, w, 0, y).ok());
    CHECK(std::fabs(static_cast<double>(y(0, 0, 0, 7)) - 1) <=
          8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEST_CASE_TEMPLATE("RMS norm: squares may leave the dtype's range", T, float, double) {
  constexpr int kFar = sizeof(T) == 4 ? 110 : 1000, kSubnormal = sizeof(T) == 4 ? -149 : -1074;
  Generator generator(23);
  const Tensor<T, 4> x({1, 1, 4, 37}), far({1, 1, 4, 37}), y({1, 1, 4, 37});
  const Tensor<T, 4> d_y({1, 1, 4, 37}), d_x({1, 1, 4, 37});
  const Tensor<T, 1> w({37}), d_w({37});
  w.Fill(generator), d_y.Fill(generator);
  // Whole numbers, so that they are exact among the subnormal numbers too.
  x.ForEach(
      [&](T& value) { value = std::round(static_cast<T>(100 * generator.StandardNormal())); });
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    REQUIRE(RmsNorm<T>(backend, x, w, 0, y).ok());
    const std::vector<double> want = y.Values();
    REQUIRE(RmsNormBackward<T>(backend, x, w, 0, d_y, d_x, d_w).ok());
    const std::vector<double> of_x = d_x.Values(), of_w = d_w.Values();
    for (const int power : {kFar, 60, -60, -kFar, kSubnormal}) {
      CAPTURE(power);
      far.CopyFrom(x);
      far.ForEach([&](T& value) { value = std::ldexp(value, power); });
      REQUIRE(RmsNorm<T>(backend, far, w, 0, y).ok());
      CHECK(LargestEpsilons<T>(y.Values(), want) <= 4);
      REQUIRE(RmsNormBackward<T>(backend, far, w, 0, d_y, d_x, d_w).ok());
      CHECK(RelativeError(d_w.Values(), of_w) <= kGradientTolerance<T>);
      if (power == kSubnormal || power == kFar) continue;  // d_x itself leaves the range
      std::vector<double> scaled = d_x.Values();
      for (double& value : scaled) value = std::ldexp(value, power);
      CHECK(RelativeError(scaled, of_x) <= kGradientTolerance<T>);
    }
  }
}

TEST_CASE("RMS norm: without rows there is a weight's gradient, and nothing without width") {
  for (const Backend& backend : Backends()) {
    const Tensor<float, 4> none({2, 0, 3, 4}), flat({2, 2, 3, 0});
    const Tensor<float, 1> w({4}), d_w({4}), no_w({0});
    w.Fill(1.0f), d_w.Fill(7.0f);
    CHECK(RmsNorm<float>(backend, none, w, 0, none).ok());
    CHECK(RmsNormBackward<float>(backend, none, w, 0, none, none, d_w).ok());
    for (const double x : d_w.Values()) CHECK(x == 0);
    CHECK(RmsNorm<float>(backend, flat, no_w, 0, flat).ok());
    CHECK(RmsNormBackward<float>(backend, flat, no_w, 0, flat, flat, no_w).ok());
  }
}

TEST_CASE("RMS norm: NaN, infinities and zeros stay in their row, and mistakes are named") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t width : {2, 67}) {
      CAPTURE(width);
      const Shape<4> shape = {1, 1, 4, width};
      const Tensor<float, 4> x(shape), y(shape), d_y(shape), d_x(shape);
      const Tensor<float, 1> w({width}), d_w({width});
      x.Fill(2.0f), w.Fill(1.0f), d_y.Fill(1.0f);
      x(0, 0, 0, width - 1) = NAN;
      for (int64_t e = 0; e < width; ++e) x(0, 0, 1, e) = 0;
      x(0, 0, 2, 1) = -INFINITY;
      REQUIRE(RmsNorm<float>(backend, x, w, 0, y).ok());
      REQUIRE(RmsNormBackward<float>(backend, x, w, 0, d_y, d_x, d_w).ok());
      for (int64_t e = 0; e < width; ++e) {
        CHECK(std::isnan(y(0, 0, 0, e)));
        CHECK(std::isnan(y(0, 0, 1, e)));
        // A number over infinity is 0, infinity over itself nothing.
        if (e == 1) CHECK(std::isnan(y(0, 0, 2, e)));
        if (e != 1) CHECK(y(0, 0, 2, e) == 0);
        CHECK(y(0, 0, 3, e) == 1);
        for (int64_t r = 0; r < 3; ++r) CHECK(std::isnan(d_x(0, 0, r, e)));
        CHECK(std::isfinite(d_x(0, 0, 3, e)));
        CHECK(std::isnan(d_w(e)));
      }
      REQUIRE(RmsNorm<float>(backend, x, w, 1e-6, y).ok());
      CHECK(y(0, 0, 1, 0) == 0);
      CHECK(std::isnan(y(0, 0, 0, 0)));
    }
  }

  const Tensor<float, 4> x({1, 1, 3, 2}), y({1, 1, 3, 2});
  const Tensor<float, 1> w({2});
  x.Fill(2.0f), w.Fill(1.0f), y.Fill(7.0f);
  const auto why = [&](const Tensor<float, 1>& weights, double eps, const Tensor<float, 4>& out) {
    return RmsNorm<float>(DefaultBackend(), x, weights, eps, out).message();
  };
  CHECK(why(Tensor<float, 1>({3}), 0, y) == "W: axis 0 has extent 3, needed is 2");
  CHECK(why(w, -1, y) == "eps is negative, needed is a finite number from 0");
  CHECK(why(w, NAN, y) == "eps is nan, needed is a finite number from 0");
  CHECK(why(w, 0, Tensor<float, 4>({1, 1, 3, 3})) == "Y: axis 3 has extent 3, needed is 2");
  const KernelTable<float> empty = {};
  const Backend without = {"without", &empty};
  CHECK(RmsNorm<float>(without, x, w, 0, y).message() == "without has no rms norm of f32");
  for (const double value : y.Values()) CHECK(value == 7);
}

}  // namespace
}  // namespace attn
