// SPDX-License-Identifier: Apache-2.0
#include "attn/rotary.h"

#include <complex>
#include <limits>

#include "testing.h"

namespace attn {
namespace {

using testing::RelativeError;
using testing::Tensor;
constexpr RotaryPairing kPairings[] = {RotaryPairing::kInterleaved, RotaryPairing::kHalf};

struct Turns {
  Tensor<double, 2> cos, sin;
  Tensor<int64_t, 2> positions;

  Turns(int64_t rows, int64_t half, int64_t batch, int64_t tokens)
      : cos({rows, half}), sin({rows, half}), positions({batch, tokens}) {
    REQUIRE(FillRotaryTables<double>(10000, cos, sin).ok());
    int64_t next = 0;
    positions.ForEach([&](int64_t& p) { p = (next += 7) % rows; });
  }
  RotaryTables<double> tables() const { return {cos, sin, positions}; }
};

TEST_CASE("a rotary embedding multiplies pairs, as complex numbers, by e^(i p theta)") {
  Generator generator(31);
  const Turns turns(50, 3, 2, 5);
  const Tensor<double, 4> x({2, 3, 5, 8}, {2, 0, 3, 1}, 2), y({2, 3, 5, 8});
  x.Fill(generator);
  for (const RotaryPairing pairing : kPairings) {
    REQUIRE(RotaryEmbedding<double>(x, turns.tables(), pairing, y).ok());
    std::vector<double> want = x.Values();
    for (size_t row = 0; row < want.size() / 8; ++row) {
      const int64_t b = static_cast<int64_t>(row) / 15, s = static_cast<int64_t>(row) % 5;
      for (size_t k = 0; k < 3; ++k) {
        const bool interleaved = pairing == RotaryPairing::kInterleaved;
        double& re = want[8 * row + (interleaved ? 2 * k : k)];
        double& im = want[8 * row + (interleaved ? 2 * k + 1 : k + 3)];
        const double theta = std::pow(10000, -2.0 * static_cast<double>(k) / 6);
        const double angle = static_cast<double>(turns.positions(b, s)) * theta;
        const std::complex<double> turned = std::complex(re, im) * std::polar(1.0, angle);
        re = turned.real(), im = turned.imag();
      }
    }
    CHECK(RelativeError(y.Values(), want) < 1e-15);
  }
}

TEST_CASE("after the rotation q.k depends on the distance alone") {
  Generator generator(32);
  const Tensor<double, 4> x({1, 2, 1, 16}), y({1, 2, 1, 16});
  x.Fill(generator);
  const Turns turns(100, 8, 1, 1);
  for (const RotaryPairing pairing : kPairings) {
    const auto dot = [&](int64_t query, int64_t key) {
      const Tensor<int64_t, 2> at({1, 1});
      double sum = 0;
      std::vector<double> turned[2];
      for (const int64_t position : {query, key}) {
        at(0, 0) = position;
        REQUIRE(RotaryEmbedding<double>(x, {turns.cos, turns.sin, at}, pairing, y).ok());
        turned[position == key] = y.Values();
      }
      for (size_t c = 0; c < 16; ++c) sum += turned[0][c] * turned[1][16 + c];
      return sum;
    };
    CHECK(dot(9, 4) == doctest::Approx(dot(99, 94)).epsilon(1e-13));
    CHECK(std::fabs(dot(9, 4) - dot(9, 5)) > 1e-3);
  }
}

TEST_CASE("backward is the transpose, and undoes the rotation; in place too") {
  Generator generator(33);
  const Turns turns(40, 2, 2, 4);
  const Tensor<double, 4> x({2, 2, 4, 6}), y({2, 2, 4, 6}), d_y({2, 2, 4, 6}), d_x({2, 2, 4, 6});
  for (const RotaryPairing pairing : kPairings) {
    x.Fill(generator), d_y.Fill(generator);
    REQUIRE(RotaryEmbedding<double>(x, turns.tables(), pairing, y).ok());
    REQUIRE(RotaryEmbeddingBackward<double>(d_y, turns.tables(), pairing, d_x).ok());
    const std::vector<double> a = y.Values(), b = d_y.Values(), c = x.Values(), d = d_x.Values();
    double left = 0, right = 0;
    for (size_t i = 0; i < a.size(); ++i) left += a[i] * b[i], right += c[i] * d[i];
    CHECK(left == doctest::Approx(right).epsilon(1e-13));
    REQUIRE(RotaryEmbeddingBackward<double>(y, turns.tables(), pairing, y).ok());
    CHECK(RelativeError(y.Values(), x.Values()) < 1e-15);
  }
}

TEST_CASE("rotary embedding: without positions token s has row s, and mistakes are named") {
  const Tensor<float, 4> x({1, 1, 3, 4}), y({1, 1, 3, 4});
  const Tensor<float, 2> cos({3, 2}), sin({3, 2});
  x.Fill(1.0f);
  REQUIRE(FillRotaryTables<float>(100, cos, sin).ok());
  REQUIRE(RotaryEmbedding<float>(x, {cos, sin}, RotaryPairing::kHalf, y).ok());
  CHECK(y(0, 0, 0, 0) == 1);
  CHECK(y(0, 0, 2, 0) == doctest::Approx(std::cos(2.0) - std::sin(2.0)));
  CHECK(y(0, 0, 2, 1) == doctest::Approx(std::cos(0.2) - std::sin(0.2)));

  y.Fill(7.0f);
  const auto why = [&](const RotaryTables<float>& tables) {
    const std::string message =
        RotaryEmbedding<float>(x, tables, RotaryPairing::kHalf, y).message();
    CHECK(y(0, 0, 0, 0) == 7);
    return message;
  };
  const Tensor<float, 2> wide({3, 3}), few({2, 2});
  wide.Fill(1.0f), few.Fill(1.0f);
  CHECK(why({wide, wide}) == "cos has width 3, so 6 channels turn, X has 4");
  CHECK(why({cos, wide}) == "sin: axis 1 has extent 3, needed is 2");
  CHECK(why({few, few}) == "X has 3 tokens, cos has 2 rows");
  const Tensor<int64_t, 2> positions({1, 3});
  positions.Fill(int64_t{0});
  positions(0, 1) = 3;
  CHECK(why({cos, sin, positions}) == "positions[0][1] is 3, cos has 3 rows");
  positions(0, 1) = -1;
  CHECK(why({cos, sin, positions}) == "positions[0][1] is -1, cos has 3 rows");
  CHECK(FillRotaryTables<float>(0, cos, sin).message() == "base is not a finite number above 0");
}

}  // namespace
}  // namespace attn
