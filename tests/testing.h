// SPDX-License-Identifier: Apache-2.0
// What every test of a kernel needs: owned tensors of any layout, and a comparison that looks at
// non-finite places first.
#ifndef ATTN_TESTS_TESTING_H_
#define ATTN_TESTS_TESTING_H_

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "attn/backend.h"
#include "attn/random.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn::testing {

// How many random problems: fewer where a problem takes long (--brief: sanitizers, browsers), many
// in `make test-full` (--full). The first ones are the same.
enum class Effort { kBrief, kNormal, kFull };
extern Effort effort;
inline int64_t Problems(int64_t brief, int64_t normal, int64_t full) {
  return effort == Effort::kBrief ? brief : effort == Effort::kNormal ? normal : full;
}

// What no kernel may read: NaN, or the greatest value of a type that has no NaN.
template <class T>
constexpr T kPoison = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN()
                                                  : std::numeric_limits<T>::max();

// `order` lists the axes from slowest to fastest; `gap` leaves unused elements after each run of
// the fastest axis, filled with kPoison so that a read of them shows.
template <class T, size_t kRank>
class Tensor {
 public:
  explicit Tensor(const Shape<kRank>& shape) : Tensor(shape, Identity(), 0) {}

  Tensor(const Shape<kRank>& shape, const std::array<size_t, kRank>& order, int64_t gap) {
    Shape<kRank> strides;
    int64_t step = 1;
    for (size_t i = kRank; i-- > 0;) {
      strides[order[i]] = step;
      step *= shape[order[i]];
      if (i == kRank - 1) step += gap;
    }
    storage_.assign(static_cast<size_t>(step) + 1, kPoison<T>);
    view_ = View<T, kRank>(storage_.data(), shape, strides);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const View<T, kRank>& view() const { return view_; }
  operator View<T, kRank>() const { return view_; }
  operator View<const T, kRank>() const
    requires(!std::is_const_v<T>)
  {
    return view_;
  }
  template <class... Index>
  T& operator()(Index... index) const {
    return view_(index...);
  }

  // In logical order.
  template <class Function>
  void ForEach(Function function) const {
    Shape<kRank> index{};
    int64_t n = 1;
    for (int64_t extent : view_.shape) n *= extent;
    for (int64_t k = 0; k < n; ++k) {
      int64_t offset = 0;
      for (size_t i = 0; i < kRank; ++i) offset += index[i] * view_.strides[i];
      function(view_.data[offset]);
      for (size_t i = kRank; i-- > 0;) {
        if (++index[i] < view_.shape[i]) break;
        index[i] = 0;
      }
    }
  }

  std::vector<double> Values() const {
    std::vector<double> values;
    ForEach([&](T x) { values.push_back(static_cast<double>(x)); });
    return values;
  }

  void Fill(Generator& generator, double spread = 1) const {
    ForEach([&](T& x) { x = static_cast<T>(spread * generator.StandardNormal()); });
  }

  void Fill(T value) const {
    ForEach([&](T& x) { x = value; });
  }

  // The same numbers, whatever the layout and the type.
  template <class U>
  void CopyFrom(const Tensor<U, kRank>& other) const {
    const std::vector<double> values = other.Values();
    size_t k = 0;
    ForEach([&](T& x) { x = static_cast<T>(values[k++]); });
  }

 private:
  static std::array<size_t, kRank> Identity() {
    std::array<size_t, kRank> order;
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }

  std::vector<T> storage_;
  View<T, kRank> view_;
};

constexpr double kInf = std::numeric_limits<double>::infinity();

// The message of a failure; a test that expects one fails on success.
template <class T>
std::string Why(const Result<T>& result) {
  return result.ok() ? "no error" : result.status().message();
}
inline void Has(const std::string& text, const char* part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

// The largest error relative to the largest finite magnitude of `want`; infinity when a non-finite
// place or its sign differs. (max = std::max(max, x) would lose a NaN.)
inline double RelativeError(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  double largest = 0, error = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i])) largest = std::fmax(largest, std::fabs(want[i]));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    const bool same_kind = std::isnan(want[i])   ? std::isnan(got[i])
                           : std::isinf(want[i]) ? got[i] == want[i]
                                                 : std::isfinite(got[i]);
    if (!same_kind) {
      MESSAGE("place ", i, ": got ", got[i], ", want ", want[i]);
      return INFINITY;
    }
    if (std::isfinite(want[i])) error = std::fmax(error, std::fabs(got[i] - want[i]));
  }
  return largest == 0 ? error : error / largest;
}

// contract.md: f32 forward 2e-6, gradients 1e-5.
template <class T>
constexpr double kForwardTolerance = sizeof(T) == 4 ? 2e-6 : 1e-14;
template <class T>
constexpr double kGradientTolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;

}  // namespace attn::testing

#endif  // ATTN_TESTS_TESTING_H_
