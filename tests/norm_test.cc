// SPDX-License-Identifier: Apache-2.0
#include "attn/norm.h"

#include <limits>

#include "testing.h"

namespace attn {
namespace {

using testing::RelativeError;
using testing::Tensor;
constexpr std::array<size_t, 4> kWidthSlowest = {3, 1, 0, 2};

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
  for (const int64_t width : {1, 2, 7, 64, 100, 4096}) {
    CAPTURE(width);
    const Tensor<T, 4> x({2, 3, 4, width}, kWidthSlowest, 3), y({2, 3, 4, width});
    const Tensor<T, 1> w({width});
    x.Fill(generator, 3), w.Fill(generator);
    const std::vector<double> want = Expected(x, w, 1e-6);
    REQUIRE(RmsNorm<T>(x, w, 1e-6, y).ok());
    // The mean is summed in f64: exact enough for f32, a random walk of 4096 roundings for f64.
    CHECK(RelativeError(y.Values(), want) <=
          (sizeof(T) == 4 ? 4 : 32) * std::numeric_limits<T>::epsilon());
    REQUIRE(RmsNorm<T>(x, w, 1e-6, x).ok());
    CHECK(x.Values() == y.Values());
  }
}

TEST_CASE("RMS norm's gradients equal central differences") {
  constexpr double kEps = 0.1, kStep = 1e-5;
  Generator generator(22);
  const Tensor<double, 4> x({1, 2, 3, 5}), y({1, 2, 3, 5}), d_y({1, 2, 3, 5}), d_x({1, 2, 3, 5});
  const Tensor<double, 1> w({5}), d_w({5});
  x.Fill(generator), w.Fill(generator), d_y.Fill(generator);
  const auto loss = [&] {
    REQUIRE(RmsNorm<double>(x, w, kEps, y).ok());
    const std::vector<double> a = y.Values(), b = d_y.Values();
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const auto differences = [&](const auto& input) {
    std::vector<double> all;
    input.ForEach([&](double& value) {
      const double before = value;
      value = before + kStep;
      const double above = loss();
      value = before - kStep;
      all.push_back((above - loss()) / (2 * kStep));
      value = before;
    });
    return all;
  };
  REQUIRE(RmsNormBackward<double>(x, w, kEps, d_y, d_x, d_w).ok());
  CHECK(RelativeError(d_x.Values(), differences(x)) < 1e-8);
  CHECK(RelativeError(d_w.Values(), differences(w)) < 1e-8);
  // A row and its gradient are orthogonal where eps is 0: the norm does not see its length.
  REQUIRE(RmsNormBackward<double>(x, w, 0, d_y, d_x, d_w).ok());
  for (int64_t r = 0; r < 3; ++r) {
    double dot = 0;
    for (int64_t e = 0; e < 5; ++e) dot += x(0, 1, r, e) * d_x(0, 1, r, e);
    CHECK(std::fabs(dot) < 1e-14);
  }
  const std::vector<double> apart = d_x.Values();
  REQUIRE(RmsNormBackward<double>(x, w, 0, d_y, d_y, d_w).ok());
  CHECK(d_y.Values() == apart);
}

TEST_CASE("RMS norm: NaN and zeros stay in their row, and mistakes are named") {
  const Tensor<float, 4> x({1, 1, 3, 2}), y({1, 1, 3, 2});
  const Tensor<float, 1> w({2});
  x.Fill(2.0f), w.Fill(1.0f);
  x(0, 0, 0, 1) = NAN, x(0, 0, 1, 0) = x(0, 0, 1, 1) = 0;
  REQUIRE(RmsNorm<float>(x, w, 0, y).ok());
  for (int64_t r = 0; r < 2; ++r) CHECK(std::isnan(y(0, 0, r, 0)));
  CHECK(y(0, 0, 2, 0) == 1);
  REQUIRE(RmsNorm<float>(x, w, 1e-6, y).ok());
  CHECK(y(0, 0, 1, 0) == 0);

  const auto why = [&](const Tensor<float, 1>& weights, double eps, const Tensor<float, 4>& out) {
    return RmsNorm<float>(x, weights, eps, out).message();
  };
  CHECK(why(Tensor<float, 1>({3}), 0, y) == "W: axis 0 has extent 3, needed is 2");
  CHECK(why(w, -1, y) == "eps is negative, needed is a finite number from 0");
  CHECK(why(w, NAN, y) == "eps is nan, needed is a finite number from 0");
  CHECK(why(w, 0, Tensor<float, 4>({1, 1, 3, 3})) == "Y: axis 3 has extent 3, needed is 2");
}

}  // namespace
}  // namespace attn
