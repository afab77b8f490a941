// SPDX-License-Identifier: Apache-2.0
#include "attn/random.h"

#include <bit>
#include <cmath>

#include "model/double_double.h"
#include "model/log_complement.h"

namespace attn {
namespace {

using Uint128 = unsigned __int128;

constexpr Uint128 Join(uint64_t high, uint64_t low) {
  return (static_cast<Uint128>(high) << 64) | low;
}

// M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically
// Good Algorithms for Random Number Generation" (2014).
constexpr Uint128 kMultiplier = Join(0x2360ed051fc65da4, 0x4385df649fccf645);

// NumPy's SeedSequence: M. E. O'Neill, "Developing a seed_seq Alternative"
// (2015), with a pool of four words.
class SeedSequence {
 public:
  explicit SeedSequence(uint64_t entropy) {
    uint32_t hash = 0x43b0d7e5;
    const auto scramble = [&hash](uint32_t value) {
      value ^= hash;
      hash *= 0x931e8875;
      value *= hash;
      return value ^ (value >> 16);
    };
    pool_[0] = scramble(static_cast<uint32_t>(entropy));
    pool_[1] = scramble(static_cast<uint32_t>(entropy >> 32));
    pool_[2] = scramble(0);
    pool_[3] = scramble(0);
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        if (from == to) continue;
        const uint32_t mixed = 0xca01f9ddu * pool_[to] - 0x4973f715u * scramble(pool_[from]);
        pool_[to] = mixed ^ (mixed >> 16);
      }
    }
  }

  uint64_t Next64() {
    const uint64_t low = Next32();
    return low | static_cast<uint64_t>(Next32()) << 32;
  }

 private:
  uint32_t Next32() {
    uint32_t value = pool_[next_++ % 4] ^ hash_;
    hash_ *= 0x58f38ded;
    value *= hash_;
    return value ^ (value >> 16);
  }

  uint32_t pool_[4];
  uint32_t hash_ = 0x8b51f9dd;
  int next_ = 0;
};

// r and v, the right edge of the last layer and the area of each, for 256
// layers: J. A. Doornik, "An Improved Ziggurat Method to Generate Normal Random
// Samples" (2005), after G. Marsaglia and W. W. Tsang, "The Ziggurat Method for
// Generating Random Variables", J. Stat. Softw. 5(8) (2000).
constexpr double kEdge = 3.6541528853610087963519472518;
constexpr double kArea = 0.0049286732339746519;
constexpr double kMantissa = 0x1p52;

// NumPy prints its tables as constants. They are what this recurrence gives in
// double precision from these r and v, with exp and log rounded correctly,
// except at one place: exp(-x_38^2 / 2) is 0.4983 of a unit above a double, and
// the exp that NumPy's authors used rounded it up. The 38 layers inside it
// inherit that, up to 56 units in inside[2]. (The recurrence in higher
// precision gives other tables: 126 of 256 entries of `inside` differ.)
constexpr int kRoundedUp = 38;

double Density(int layer, double x) {
  const double y = model::RoundedExp(-0.5 * x * x);
  return layer == kRoundedUp ? std::nextafter(y, 1.0) : y;
}

ZigguratTables BuildZiggurat() {
  ZigguratTables t;
  double x = kEdge;
  for (int i = 255; i >= 1; --i) {
    t.width[i] = x / kMantissa;
    t.density[i] = Density(i, x);
    // f(x_{i-1}) = f(x_i) + v / x_i; the innermost layer starts at x_0 = 0.
    const double inner = i == 1 ? 0 : std::sqrt(-2 * model::RoundedLog(t.density[i] + kArea / x));
    t.inside[i] = static_cast<uint64_t>(std::nearbyint(inner / x * kMantissa));
    x = inner;
  }
  // Layer 0 is the base strip with the tail, as wide as a rectangle of area v.
  t.width[0] = kArea / t.density[255] / kMantissa;
  t.density[0] = 1;
  t.inside[0] = static_cast<uint64_t>(std::nearbyint(kEdge * t.density[255] / kArea * kMantissa));
  return t;
}

}  // namespace

const ZigguratTables& NormalZiggurat() {
  // 0.3 ms once; as a constant it would add 6 kB that do not compress.
  static const ZigguratTables tables = BuildZiggurat();
  return tables;
}

Generator::Generator(uint64_t seed) {
  SeedSequence sequence(seed);
  const uint64_t state_high = sequence.Next64(), state_low = sequence.Next64();
  const uint64_t stream_high = sequence.Next64(), stream_low = sequence.Next64();
  increment_ = Join(stream_high, stream_low) << 1 | 1;
  state_ = (increment_ + Join(state_high, state_low)) * kMultiplier + increment_;
}

uint64_t Generator::Bits() {
  state_ = state_ * kMultiplier + increment_;
  const uint64_t high = static_cast<uint64_t>(state_ >> 64);
  return std::rotr(high ^ static_cast<uint64_t>(state_), static_cast<int>(high >> 58));
}

double Generator::Random() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

double Generator::StandardNormal() {
  const ZigguratTables& t = NormalZiggurat();
  for (;;) {
    // From the low end: 8 bits choose the layer, one the sign, 52 the place.
    const uint64_t bits = Bits();
    const int layer = static_cast<int>(bits & 0xff);
    const bool negative = (bits >> 8 & 1) != 0;
    const uint64_t place = bits >> 9 & ((uint64_t{1} << 52) - 1);
    const double x = static_cast<double>(place) * t.width[layer];
    if (place < t.inside[layer]) return negative ? -x : x;  // 99.3 %
    // In the tail NumPy takes the sign from bit 8 of the place instead.
    if (layer == 0) return Tail((place >> 8 & 1) != 0);
    const double height = (t.density[layer - 1] - t.density[layer]) * Random() + t.density[layer];
    // Any C library's exp: its last bit decides once in 10^15 draws.
    if (height < std::exp(-0.5 * x * x)) return negative ? -x : x;
  }
}

// Beyond kEdge: G. Marsaglia, "Generating a Variable from the Tail of the
// Normal Distribution", Technometrics 6 (1964).
double Generator::Tail(bool negative) {
  constexpr double kInverseEdge = 0.27366123732975827203338247596;
  for (;;) {
    const double x = -kInverseEdge * model::LogOfComplement(Random());
    const double y = -model::LogOfComplement(Random());
    if (y + y > x * x) return negative ? -(kEdge + x) : kEdge + x;
  }
}

void Generator::StandardNormal(std::span<double> out) {
  for (double& x : out) x = StandardNormal();
}

}  // namespace attn
