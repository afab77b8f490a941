// SPDX-License-Identifier: Apache-2.0
#include "bench/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attn/random.h"

namespace attn::bench {
namespace {

constexpr int64_t kCheckedRows = 64;

template <class T>
int64_t Size(const View<T, 4>& x) {
  return x.shape[0] * x.shape[1] * x.shape[2] * x.shape[3];
}

template <class T>
std::vector<double> Normalised(const RowTensors<T>& t, const T* x) {
  std::vector<double> y(x, x + t.w.shape[0]);
  double sum = 0;
  for (const double value : y) sum += value * value;
  const double rms = std::sqrt(sum / static_cast<double>(y.size()) + kNormEps);
  for (size_t e = 0; e < y.size(); ++e) y[e] *= static_cast<double>(t.w.data[e]) / rms;
  return y;
}

template <class T>
std::vector<double> Turned(const RowTensors<T>& t, const T* x, int64_t token) {
  const int64_t half = t.cos.shape[1];
  std::vector<double> y(x, x + t.x.shape[3]);
  for (int64_t k = 0; k < half; ++k) {
    const double cos = static_cast<double>(t.cos(token, k));
    const double sin = static_cast<double>(t.sin(token, k));
    double& first = y[static_cast<size_t>(k)];
    double& second = y[static_cast<size_t>(k + half)];
    const double turned = first * cos - second * sin;
    second = first * sin + second * cos, first = turned;
  }
  return y;
}

}  // namespace

bool IsOnRows(Op op) { return op == Op::kRmsNorm || op == Op::kRotaryEmbedding; }

std::string_view RowOpName(Op op) { return op == Op::kRmsNorm ? "rms_norm" : "rotary"; }

std::string_view RowOpShape(Op op) {
  return op == Op::kRmsNorm ? "1x1x8192x4096" : "1x32x8192x128";
}

std::string RowOpLacks(Op op, const ForwardShape& s) {
  if (s.kv_heads == s.heads && s.queries == s.keys && s.width == s.value_width &&
      !s.causal.enabled) {
    return "";
  }
  return fmt::format("{} has rows of one tensor: BxHxNxD", RowOpName(op));
}

int64_t RowFlops(Op op, const ForwardShape& s) {
  return s.batch * s.heads * s.queries * s.width * (op == Op::kRmsNorm ? 4 : 3);
}

int64_t RowElements(Op op, const ForwardShape& s) {
  const int64_t beside = op == Op::kRmsNorm ? s.width : 2 * s.queries * (s.width / 2);
  return 2 * s.batch * s.heads * s.queries * s.width + beside;
}

template <class T>
Status RunRows(const Backend& backend, Op op, const RowTensors<T>& t) {
  if (op == Op::kRmsNorm) return RmsNorm<T>(backend, t.x, t.w, kNormEps, t.y);
  return RotaryEmbedding<T>(backend, t.x, {t.cos, t.sin}, RotaryPairing::kHalf, t.y);
}

template <class T>
void FillWithNan(const RowTensors<T>& t) {
  std::fill_n(t.y.data, Size(t.y), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
int64_t CountNonFinite(const RowTensors<T>& t) {
  return std::count_if(t.y.data, t.y.data + Size(t.y), [](T x) { return !std::isfinite(x); });
}

double RowTolerance(DType dtype) {
  return dtype == DType::kF32 ? 8 * static_cast<double>(std::numeric_limits<float>::epsilon())
                              : 32 * std::numeric_limits<double>::epsilon();
}

template <class T>
Errors CompareRows(Op op, const RowTensors<T>& t) {
  const int64_t tokens = t.x.shape[2], width = t.x.shape[3];
  const int64_t rows = t.x.shape[0] * t.x.shape[1] * tokens;
  Errors errors;
  errors.non_finite = CountNonFinite(t);
  errors.rows = std::min(rows, kCheckedRows);
  Generator generator(3);
  std::string worst;
  for (int64_t n = 0; n < errors.rows; ++n) {
    // The last and the first are among them.
    const int64_t row = n == 0 ? rows - 1
                        : n == 1
                            ? 0
                            : static_cast<int64_t>(generator.Random() * static_cast<double>(rows));
    const T* const x = t.x.data + row * width;
    const T* const y = t.y.data + row * width;
    const std::vector<double> want =
        op == Op::kRmsNorm ? Normalised(t, x) : Turned(t, x, row % tokens);
    double largest = 0, error = 0;
    size_t where = 0;
    for (size_t e = 0; e < want.size(); ++e) {
      largest = std::max(largest, std::abs(want[e]));
      const double off = std::abs(static_cast<double>(y[e]) - want[e]);
      if (off > error) error = off, where = e;
    }
    errors.max_abs = std::max(errors.max_abs, error);
    if (error == 0 || error / largest <= errors.max_rel) continue;
    errors.max_rel = error / largest;
    worst = fmt::format("row {}, channel {} is {:.9g}, f64 says {:.9g}", row, where,
                        static_cast<double>(y[where]), want[where]);
  }
  const double tolerance = RowTolerance(DTypeOf<T>());
  if (errors.non_finite > 0) {
    errors.failure = fmt::format("{} values are not finite", errors.non_finite);
  } else if (!(errors.max_rel <= tolerance)) {
    errors.failure =
        fmt::format("{}: relative error {:.2g}, allowed {:.2g}", worst, errors.max_rel, tolerance);
  }
  return errors;
}

#define ATTN_BENCH_INSTANTIATE(T)                                    \
  template Status RunRows(const Backend&, Op, const RowTensors<T>&); \
  template void FillWithNan(const RowTensors<T>&);                   \
  template int64_t CountNonFinite(const RowTensors<T>&);             \
  template Errors CompareRows(Op, const RowTensors<T>&);
ATTN_BENCH_INSTANTIATE(float)
ATTN_BENCH_INSTANTIATE(double)
#undef ATTN_BENCH_INSTANTIATE

}  // namespace attn::bench
