// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "attn/norm.h"
#include "executors.h"
#include "row_widths.h"
#include "testing.h"

namespace attn {
namespace {

using testing::Backwards;
using testing::kGradientTolerance;
using testing::kWidthSlowest;
using testing::RelativeError;
using testing::RowWidths;
using testing::Tensor;

TEST_CASE("RMS norm's gradients equal central differences") {
  constexpr double kEps = 0.1, kStep = 1e-5;
  Generator generator(22);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kRmsNorm, DType::kF64)) continue;
    const Shape<4> shape = {1, 2, 3, 11};
    const Tensor<double, 4> x(shape), y(shape), d_y(shape), d_x(shape);
    const Tensor<double, 1> w({11}), d_w({11});
    x.Fill(generator), w.Fill(generator), d_y.Fill(generator);
    const auto loss = [&] {
      REQUIRE(RmsNorm<double>(backend, x, w, kEps, y).ok());
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
    REQUIRE(RmsNormBackward<double>(backend, x, w, kEps, d_y, d_x, d_w).ok());
    CHECK(RelativeError(d_x.Values(), differences(x)) < 1e-8);
    CHECK(RelativeError(d_w.Values(), differences(w)) < 1e-8);
    // A row and its gradient are orthogonal where eps is 0: the norm does not see its length.
    REQUIRE(RmsNormBackward<double>(backend, x, w, 0, d_y, d_x, d_w).ok());
    for (int64_t r = 0; r < 3; ++r) {
      double dot = 0;
      for (int64_t e = 0; e < 11; ++e) dot += x(0, 1, r, e) * d_x(0, 1, r, e);
      CHECK(std::fabs(dot) < 1e-14);
    }
    const std::vector<double> apart = d_x.Values();
    REQUIRE(RmsNormBackward<double>(backend, x, w, 0, d_y, d_y, d_w).ok());
    CHECK(d_y.Values() == apart);
  }
}

TEST_CASE_TEMPLATE("RMS norm's gradients are the reference's, whatever the layout and the threads",
                   T, float, double) {
  // Large enough that the gradient of a row of one element, nothing but eps, has digits.
  constexpr double kEps = 0.1;
  Generator generator(24);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t width : RowWidths(backend.Lanes(DTypeOf<T>()))) {
      CAPTURE(width);
      // Several chunks, the last one partial.
      const Shape<4> shape = {2, 5, 7, width};
      const Tensor<T, 4> x(shape), d_y(shape), d_x(shape), slow_x(shape, kWidthSlowest, 1),
          slow_d_y(shape, {1, 0, 3, 2}, 2), slow_d_x(shape, kWidthSlowest, 3);
      const Tensor<T, 1> w({width}), d_w({width});
      x.Fill(generator), d_y.Fill(generator), w.Fill(generator);
      slow_x.CopyFrom(x), slow_d_y.CopyFrom(d_y);
      REQUIRE(RmsNormBackward<T>(backend, x, w, kEps, d_y, d_x, d_w).ok());
      const std::vector<double> of_x = d_x.Values(), of_w = d_w.Values();
      d_w.Fill(T(NAN));
      REQUIRE(RmsNormBackward<T>(backend, slow_x, w, kEps, slow_d_y, slow_d_x, d_w).ok());
      CHECK(slow_d_x.Values() == of_x);
      CHECK(d_w.Values() == of_w);
      REQUIRE(RmsNormBackward<T>(ReferenceBackend(), x, w, kEps, d_y, d_x, d_w).ok());
      CHECK(RelativeError(of_x, d_x.Values()) <= kGradientTolerance<T>);
      // Also relative to 8, as large as a sum of 70 rows is: a single column's may cancel.
      std::vector<double> got = of_w, want = d_w.Values();
      got.push_back(8), want.push_back(8);
      CHECK(RelativeError(got, want) <= kGradientTolerance<T>);
    }
    // More than one chunk to an item.
    const Shape<4> shape = {3, 1, 1000, 5};
    const Tensor<T, 4> x(shape), d_y(shape), d_x(shape), y(shape);
    const Tensor<T, 1> w({5}), d_w({5});
    x.Fill(generator), d_y.Fill(generator), w.Fill(generator);
    const auto all = [&](const Backend& on) {
      REQUIRE(RmsNorm<T>(on, x, w, 1e-6, y).ok());
      REQUIRE(RmsNormBackward<T>(on, x, w, 1e-6, d_y, d_x, d_w).ok());
      return std::array{y.Values(), d_x.Values(), d_w.Values()};
    };
    const auto alone = all(backend);
    for (const int64_t workers : {1, 3}) {
      const Backwards backwards(workers);
      CHECK(all(backend.On(backwards)) == alone);
      CHECK(backwards.runs == 2);
    }
  }
}

}  // namespace
}  // namespace attn
