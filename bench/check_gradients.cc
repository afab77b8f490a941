// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/random.h"
#include "bench/check.h"
#include "math/visibility.h"

namespace attn::bench {
namespace {

constexpr int64_t kSamples = 8;  // queries, and keys

template <class T>
double Dot(const View<const T, 4>& x, const View<const T, 4>& y, int64_t b, int64_t hx, int64_t i,
           int64_t hy, int64_t j) {
  double sum = 0;
  for (int64_t c = 0; c < x.shape[3]; ++c) {
    sum += ToDouble(x(b, hx, i, c)) * ToDouble(y(b, hy, j, c));
  }
  return sum;
}

// P and dS / scale of one pair; both 0 where the query does not see the key.
struct Pair {
  double p = 0, ds = 0;
};

template <class T>
Pair PairOf(const AttentionInputs<T>& in, const AttentionUpstream<T>& up, const ForwardShape& s,
            int64_t b, int64_t h, int64_t i, int64_t j) {
  const Band band(s.causal, {}, s.queries, s.keys);
  if (j >= VisibleEnd(i, s.keys, band.high)) return {};
  const int64_t g = h / (s.heads / s.kv_heads);
  const double score = Dot(in.q, in.k, b, h, i, g, j) / std::sqrt(static_cast<double>(s.width));
  const double p = std::exp(score - static_cast<double>(up.lse(b, h, i)));
  return {p, p * (Dot(up.d_o, in.v, b, h, i, g, j) - Dot(up.d_o, up.o, b, h, i, h, i))};
}

template <class T>
void Add(std::vector<double>& sum, double weight, const View<const T, 4>& x, int64_t b, int64_t h,
         int64_t i) {
  for (size_t c = 0; c < sum.size(); ++c) {
    sum[c] += weight * ToDouble(x(b, h, i, static_cast<int64_t>(c)));
  }
}

}  // namespace

template <class T>
GradientOracle<T>::GradientOracle(const AttentionInputs<T>& in, const AttentionUpstream<T>& up,
                                  const ForwardShape& s)
    : shape_(s) {
  const double scale = 1 / std::sqrt(static_cast<double>(s.width));
  const int64_t group = s.heads / s.kv_heads;
  Generator generator(2);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(generator.Random() * static_cast<double>(n));
  };
  for (int64_t n = 0; n < kSamples; ++n) {
    // The first and the last of all are among them.
    const int64_t b = n == 0 ? 0 : n == 1 ? s.batch - 1 : below(s.batch);
    const int64_t h = n == 0 ? 0 : n == 1 ? s.heads - 1 : below(s.heads), g = h / group;
    const int64_t i = n == 0 ? 0 : n == 1 ? s.queries - 1 : below(s.queries);
    const int64_t j = n == 0 ? 0 : n == 1 ? s.keys - 1 : below(s.keys);
    Sample dq = {b, h, i, std::vector<double>(static_cast<size_t>(s.width))};
    Sample dk = {b, g, j, std::vector<double>(static_cast<size_t>(s.width))};
    Sample dv = {b, g, j, std::vector<double>(static_cast<size_t>(s.value_width))};
    for (int64_t key = 0; key < s.keys; ++key) {
      Add(dq.values, scale * PairOf(in, up, s, b, h, i, key).ds, in.k, b, g, key);
    }
    for (int64_t head = g * group; head < (g + 1) * group; ++head) {
      for (int64_t query = 0; query < s.queries; ++query) {
        const Pair pair = PairOf(in, up, s, b, head, query, j);
        Add(dk.values, scale * pair.ds, in.q, b, head, query);
        Add(dv.values, pair.p, up.d_o, b, head, query);
      }
    }
    dq_.push_back(std::move(dq)), dk_.push_back(std::move(dk)), dv_.push_back(std::move(dv));
  }
}

template <class T>
Errors GradientOracle<T>::Compare(const AttentionGradients<T>& gradients) const {
  Errors errors;
  errors.rows = static_cast<int64_t>(dq_.size() + dk_.size() + dv_.size());
  errors.non_finite = CountNonFinite(gradients);
  std::string worst;
  const auto compare = [&](const char* name, const View<T, 4>& got,
                           const std::vector<Sample>& samples) {
    double largest = 0, max = 0;
    std::string where;
    for (const Sample& s : samples) {
      for (size_t c = 0; c < s.values.size(); ++c) {
        const double value = ToDouble(got(s.b, s.h, s.row, static_cast<int64_t>(c)));
        largest = std::max(largest, std::abs(s.values[c]));
        const double error = std::abs(value - s.values[c]);
        if (error <= max || !std::isfinite(error)) continue;
        max = error;
        where = fmt::format("{}[{}][{}][{}][{}] is {:.9g}, f64 says {:.9g}", name, s.b, s.h, s.row,
                            c, value, s.values[c]);
      }
    }
    errors.max_abs = std::max(errors.max_abs, max);
    const double relative = max == 0 ? 0 : max / largest;
    if (relative <= errors.max_rel) return;
    errors.max_rel = relative;
    worst = where;
  };
  compare("dQ", gradients.dq, dq_);
  compare("dK", gradients.dk, dk_);
  compare("dV", gradients.dv, dv_);
  // A gradient is a sum over twice as many rounded factors as an output.
  const double tolerance = 4 * Tolerance(DTypeOf<T>(), std::max(shape_.keys, shape_.queries));
  if (errors.non_finite > 0) {
    errors.failure = fmt::format("{} gradients are not finite", errors.non_finite);
  } else if (!(errors.max_rel <= tolerance)) {
    errors.failure =
        fmt::format("{}: relative error {:.2g}, allowed {:.2g}", worst, errors.max_rel, tolerance);
  }
  return errors;
}

namespace {

template <class T, class Function>
void ForEach(const AttentionGradients<T>& gradients, Function function) {
  for (const View<T, 4>* view : {&gradients.dq, &gradients.dk, &gradients.dv}) {
    int64_t n = 1;
    for (const int64_t extent : view->shape) n *= extent;
    for (int64_t i = 0; i < n; ++i) function(view->data[i]);
  }
}

}  // namespace

template <class T>
void FillWithNan(const AttentionGradients<T>& gradients) {
  ForEach(gradients, [](T& x) { x = RoundTo<T>(std::numeric_limits<double>::quiet_NaN()); });
}

template <class T>
int64_t CountNonFinite(const AttentionGradients<T>& gradients) {
  int64_t count = 0;
  ForEach(gradients, [&](T& x) { count += std::isfinite(ToDouble(x)) ? 0 : 1; });
  return count;
}

#define ATTN_BENCH_INSTANTIATE(T)                          \
  template class GradientOracle<T>;                        \
  template void FillWithNan(const AttentionGradients<T>&); \
  template int64_t CountNonFinite(const AttentionGradients<T>&);
ATTN_BENCH_INSTANTIATE(float)
ATTN_BENCH_INSTANTIATE(double)
ATTN_BENCH_INSTANTIATE(BFloat16)
ATTN_BENCH_INSTANTIATE(Float16)
#undef ATTN_BENCH_INSTANTIATE

}  // namespace attn::bench
