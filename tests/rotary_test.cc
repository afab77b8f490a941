// SPDX-License-Identifier: Apache-2.0
#include "attn/rotary.h"

#include <complex>
#include <limits>

#include "executors.h"
#include "kernels/tasks.h"
#include "testing.h"

namespace attn {
namespace {

using testing::Backwards;
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
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kRotaryEmbedding, DType::kF64)) continue;
    Generator generator(31);
    const Turns turns(50, 3, 2, 5);
    const Tensor<double, 4> x({2, 3, 5, 8}, {2, 0, 3, 1}, 2), y({2, 3, 5, 8});
    x.Fill(generator);
    for (const RotaryPairing pairing : kPairings) {
      REQUIRE(RotaryEmbedding<double>(backend, x, turns.tables(), pairing, y).ok());
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
}

// Around a vector of pairs and of channels; channels beyond the pairs; several chunks of rows.
TEST_CASE_TEMPLATE("rotary embeddings are the reference's, any layout, in place, on threads", T,
                   float, double) {
  constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  Generator generator(34);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const int64_t lanes = backend.Lanes(DTypeOf<T>());
    for (const int64_t half : {int64_t{0}, int64_t{1}, lanes / 2, lanes - 1, lanes, lanes + 1,
                               lanes + lanes / 2 + 1, 2 * lanes + 3}) {
      for (const int64_t rest : {int64_t{0}, int64_t{1}, lanes + 2}) {
        const int64_t width = 2 * half + rest;
        if (width == 0) continue;
        CAPTURE(half);
        CAPTURE(rest);
        const Shape<4> shape = {2, 3, 35, width};
        const Tensor<T, 4> x(shape), y(shape), want(shape);
        const Tensor<T, 4> tokens_first(shape, {0, 2, 1, 3}, 1), slow(shape, {3, 1, 0, 2}, 2);
        const Tensor<T, 2> cos({40, half}), sin({40, half}), slow_cos({40, half}, {1, 0}, 1);
        const Tensor<int64_t, 2> positions({2, 35});
        x.Fill(generator), cos.Fill(generator), sin.Fill(generator);
        slow_cos.CopyFrom(cos), tokens_first.CopyFrom(x), slow.CopyFrom(x);
        int64_t next = 0;
        positions.ForEach([&](int64_t& p) { p = (next += 7) % 40; });
        const RotaryTables<T> tables = {cos, sin, positions};
        for (const RotaryPairing pairing : kPairings) {
          REQUIRE(RotaryEmbedding<T>(ReferenceBackend(), x, tables, pairing, want).ok());
          REQUIRE(RotaryEmbedding<T>(backend, x, tables, pairing, y).ok());
          const std::vector<double> once = y.Values();
          CHECK(RelativeError(once, want.Values()) <= 2 * kEpsilon);
          for (const Tensor<T, 4>* place : {&tokens_first, &slow}) {
            place->CopyFrom(x);
            REQUIRE(RotaryEmbedding<T>(backend, *place, tables, pairing, *place).ok());
            CHECK(place->Values() == once);
          }
          REQUIRE(RotaryEmbedding<T>(backend, x, {slow_cos, sin, positions}, pairing, y).ok());
          CHECK(y.Values() == once);
          const Backwards backwards(3);
          REQUIRE(RotaryEmbedding<T>(backend.On(backwards), slow, tables, pairing, y).ok());
          REQUIRE(RotaryEmbedding<T>(backend.On(backwards), x, tables, pairing, y).ok());
          CHECK(y.Values() == once);
          CHECK(backwards.runs == 2);
          REQUIRE(RotaryEmbeddingBackward<T>(ReferenceBackend(), x, tables, pairing, want).ok());
          REQUIRE(RotaryEmbeddingBackward<T>(backend, x, tables, pairing, y).ok());
          CHECK(RelativeError(y.Values(), want.Values()) <= 2 * kEpsilon);
        }
      }
    }
  }
}

TEST_CASE("rotary embeddings: a pair's NaN stays in the pair; none without tokens") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const RotaryPairing pairing : kPairings) {
      const Tensor<float, 4> x({1, 2, 3, 47}), y({1, 2, 3, 47}), none({1, 2, 0, 47});
      const Tensor<float, 2> cos({3, 22}), sin({3, 22});
      REQUIRE(FillRotaryTables<float>(100, cos, sin).ok());
      x.Fill(1.0f);
      x(0, 1, 2, 40) = NAN, x(0, 0, 1, 46) = INFINITY;
      REQUIRE(RotaryEmbedding<float>(backend, x, {cos, sin}, pairing, y).ok());
      const bool interleaved = pairing == RotaryPairing::kInterleaved;
      CHECK(std::isnan(y(0, 1, 2, 40)));
      CHECK(std::isnan(y(0, 1, 2, interleaved ? 41 : 18)));
      CHECK(y(0, 0, 1, 46) == INFINITY);
      int finite = 0;
      for (const double value : y.Values()) finite += std::isfinite(value) ? 1 : 0;
      CHECK(finite == 6 * 47 - 3);
      CHECK(RotaryEmbedding<float>(backend, none, {cos, sin}, pairing, none).ok());
    }
  }
}

TEST_CASE("after the rotation q.k depends on the distance alone") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kRotaryEmbedding, DType::kF64)) continue;
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
          REQUIRE(RotaryEmbedding<double>(backend, x, {turns.cos, turns.sin, at}, pairing, y).ok());
          turned[position == key] = y.Values();
        }
        for (size_t c = 0; c < 16; ++c) sum += turned[0][c] * turned[1][16 + c];
        return sum;
      };
      CHECK(dot(9, 4) == doctest::Approx(dot(99, 94)).epsilon(1e-13));
      CHECK(std::fabs(dot(9, 4) - dot(9, 5)) > 1e-3);
    }
  }
}

TEST_CASE("backward is the transpose, and undoes the rotation; in place too") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kRotaryEmbedding, DType::kF64)) continue;
    Generator generator(33);
    const Turns turns(40, 2, 2, 4);
    const Tensor<double, 4> x({2, 2, 4, 6}), y({2, 2, 4, 6}), d_y({2, 2, 4, 6}), d_x({2, 2, 4, 6});
    for (const RotaryPairing pairing : kPairings) {
      x.Fill(generator), d_y.Fill(generator);
      REQUIRE(RotaryEmbedding<double>(backend, x, turns.tables(), pairing, y).ok());
      REQUIRE(RotaryEmbeddingBackward<double>(backend, d_y, turns.tables(), pairing, d_x).ok());
      const std::vector<double> a = y.Values(), b = d_y.Values(), c = x.Values(), d = d_x.Values();
      double left = 0, right = 0;
      for (size_t i = 0; i < a.size(); ++i) left += a[i] * b[i], right += c[i] * d[i];
      CHECK(left == doctest::Approx(right).epsilon(1e-13));
      REQUIRE(RotaryEmbeddingBackward<double>(backend, y, turns.tables(), pairing, y).ok());
      CHECK(RelativeError(y.Values(), x.Values()) < 1e-15);
    }
  }
}

TEST_CASE("rotary embedding: without positions token s has row s, and mistakes are named") {
  const Tensor<float, 4> x({1, 1, 3, 4}), y({1, 1, 3, 4});
  const Tensor<float, 2> cos({3, 2}), sin({3, 2});
  x.Fill(1.0f);
  REQUIRE(FillRotaryTables<float>(100, cos, sin).ok());
  REQUIRE(RotaryEmbedding<float>(DefaultBackend(), x, {cos, sin}, RotaryPairing::kHalf, y).ok());
  CHECK(y(0, 0, 0, 0) == 1);
  CHECK(y(0, 0, 2, 0) == doctest::Approx(std::cos(2.0) - std::sin(2.0)));
  CHECK(y(0, 0, 2, 1) == doctest::Approx(std::cos(0.2) - std::sin(0.2)));

  y.Fill(7.0f);
  const auto why = [&](const RotaryTables<float>& tables) {
    const std::string message =
        RotaryEmbedding<float>(DefaultBackend(), x, tables, RotaryPairing::kHalf, y).message();
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
  const KernelTable<float> empty = {};
  const Backend without = {"without", &empty};
  CHECK(RotaryEmbedding<float>(without, x, {cos, sin}, RotaryPairing::kHalf, y).message() ==
        "without has no rotary embedding of f32");
  CHECK(FillRotaryTables<float>(0, cos, sin).message() == "base is not a finite number above 0");
}

}  // namespace
}  // namespace attn
