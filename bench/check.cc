// SPDX-License-Identifier: Apache-2.0
#include "bench/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attn/random.h"
#include "math/visibility.h"

namespace attn::bench {
namespace {

int64_t End(const ForwardShape& s, int64_t i) {
  return VisibleEnd(i, s.keys, Band(s.causal, {}, s.queries, s.keys).high);
}

int64_t SamplesPerHead(const ForwardShape& s) {
  // 2^25 products take some tens of milliseconds in scalar f64.
  const int64_t affordable = (int64_t{1} << 25) / (s.keys * (s.width + s.value_width));
  const int64_t rows = std::clamp<int64_t>(affordable, 16, 128);
  return std::clamp<int64_t>(rows / (s.batch * s.heads), 1, s.queries);
}

}  // namespace

double Tolerance(DType dtype, int64_t keys) {
  // The result's own rounding, and that of weights in bf16.
  if (dtype == DType::kBF16) return 0x1p-7;
  if (dtype == DType::kF16) return 0x1p-10;
  const double epsilon = dtype == DType::kF32 ? std::numeric_limits<float>::epsilon()
                                              : std::numeric_limits<double>::epsilon();
  return epsilon * (32 + std::sqrt(static_cast<double>(keys)));
}

template <class T>
Oracle<T>::Oracle(const AttentionInputs<T>& inputs, const ForwardShape& shape) : shape_(shape) {
  const int64_t per_head = SamplesPerHead(shape);
  Generator generator(1);
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t n = 0; n < per_head; ++n) {
        // The last row first: it sees every key, also when one row a head is all there is time for.
        const int64_t i =
            n == 0 ? shape.queries - 1
            : n == 1
                ? 0
                : static_cast<int64_t>(generator.Random() * static_cast<double>(shape.queries));
        samples_.push_back(Compute(inputs, b, h, i));
      }
    }
  }
}

template <class T>
typename Oracle<T>::Sample Oracle<T>::Compute(const AttentionInputs<T>& in, int64_t b, int64_t h,
                                              int64_t i) const {
  const int64_t g = h / (shape_.heads / shape_.kv_heads);
  const int64_t end = End(shape_, i);
  const double scale = 1 / std::sqrt(static_cast<double>(shape_.width));
  Sample sample = {b, h, i, std::vector<double>(static_cast<size_t>(shape_.value_width), 0.0),
                   -std::numeric_limits<double>::infinity()};
  if (end == 0) return sample;
  std::vector<double> weights(static_cast<size_t>(end));
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t j = 0; j < end; ++j) {
    double dot = 0;
    for (int64_t c = 0; c < shape_.width; ++c) {
      dot += ToDouble(in.q(b, h, i, c)) * ToDouble(in.k(b, g, j, c));
    }
    weights[static_cast<size_t>(j)] = scale * dot;
    max = std::max(max, scale * dot);
  }
  double sum = 0;
  for (double& w : weights) sum += w = std::exp(w - max);
  for (int64_t j = 0; j < end; ++j) {
    const double w = weights[static_cast<size_t>(j)] / sum;
    for (int64_t c = 0; c < shape_.value_width; ++c) {
      sample.o[static_cast<size_t>(c)] += w * ToDouble(in.v(b, g, j, c));
    }
  }
  sample.lse = max + std::log(sum);
  return sample;
}

template <class T>
Errors Oracle<T>::Compare(const AttentionOutputs<T>& out) const {
  Errors errors;
  errors.rows = static_cast<int64_t>(samples_.size());
  errors.non_finite = CountNonFinite(out, shape_);
  double largest = 0;
  std::string worst_o, worst_lse;
  for (const Sample& s : samples_) {
    for (int64_t c = 0; c < shape_.value_width; ++c) {
      const double want = s.o[static_cast<size_t>(c)];
      const double got = ToDouble(out.o(s.b, s.h, s.i, c));
      largest = std::max(largest, std::abs(want));
      const double error = std::abs(got - want);
      if (error <= errors.max_abs) continue;  // a NaN gets through, and is counted above
      if (std::isfinite(error)) errors.max_abs = error;
      worst_o =
          fmt::format("O[{}][{}][{}][{}] is {:.9g}, f64 says {:.9g}", s.b, s.h, s.i, c, got, want);
    }
    const double got = static_cast<double>(out.lse(s.b, s.h, s.i));
    if (got == s.lse) continue;  // also -inf for a row that sees no key
    const double error = std::abs(got - s.lse);
    if (error <= errors.max_lse) continue;
    errors.max_lse = std::isnan(error) ? errors.max_lse : error;
    worst_lse =
        fmt::format("LSE[{}][{}][{}] is {:.9g}, f64 says {:.9g}", s.b, s.h, s.i, got, s.lse);
  }
  errors.max_rel = errors.max_abs == 0 ? 0 : errors.max_abs / largest;
  const double tolerance = Tolerance(DTypeOf<T>(), shape_.keys);
  if (errors.non_finite > 0) {
    errors.failure = fmt::format("{} values are not finite{}{}", errors.non_finite,
                                 worst_o.empty() ? "" : "; ", worst_o);
  } else if (!(errors.max_rel <= tolerance)) {
    errors.failure = fmt::format("{}: relative error {:.2g}, allowed {:.2g}", worst_o,
                                 errors.max_rel, tolerance);
  } else if (!(errors.max_lse <= tolerance)) {
    errors.failure =
        fmt::format("{}: error {:.2g}, allowed {:.2g}", worst_lse, errors.max_lse, tolerance);
  }
  return errors;
}

template <class T>
void FillWithNan(const AttentionOutputs<T>& out) {
  const auto fill = [](const auto& view) {
    int64_t n = 1;
    for (const int64_t extent : view.shape) n *= extent;
    using E = std::remove_cvref_t<decltype(*view.data)>;
    std::fill_n(view.data, n, RoundTo<E>(std::numeric_limits<double>::quiet_NaN()));
  };
  fill(out.o);
  fill(out.lse);
}

template <class T>
int64_t CountNonFinite(const AttentionOutputs<T>& out, const ForwardShape& shape) {
  int64_t count = 0;
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t i = 0; i < shape.queries; ++i) {
        const T* o = &out.o(b, h, i, 0);
        for (int64_t c = 0; c < shape.value_width; ++c)
          count += std::isfinite(ToDouble(o[c])) ? 0 : 1;
        // A row that sees no key has LSE -inf; Compare() looks at that.
        if (End(shape, i) > 0 || std::isnan(out.lse(b, h, i))) {
          count += std::isfinite(out.lse(b, h, i)) ? 0 : 1;
        }
      }
    }
  }
  return count;
}

#define ATTN_BENCH_INSTANTIATE(T)                        \
  template class Oracle<T>;                              \
  template void FillWithNan(const AttentionOutputs<T>&); \
  template int64_t CountNonFinite(const AttentionOutputs<T>&, const ForwardShape&);
ATTN_BENCH_INSTANTIATE(float)
ATTN_BENCH_INSTANTIATE(double)
ATTN_BENCH_INSTANTIATE(BFloat16)
ATTN_BENCH_INSTANTIATE(Float16)
#undef ATTN_BENCH_INSTANTIATE

}  // namespace attn::bench
