// SPDX-License-Identifier: Apache-2.0
#include "bench/neighbours.h"

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
std::vector<double> Normalised(const NeighbourTensors<T>& t, const T* x) {
  std::vector<double> y(x, x + t.w.shape[0]);
  double sum = 0;
  for (const double value : y) sum += value * value;
  const double rms = std::sqrt(sum / static_cast<double>(y.size()) + kNormEps);
  for (size_t e = 0; e < y.size(); ++e) y[e] *= static_cast<double>(t.w.data[e]) / rms;
  return y;
}

template <class T>
std::vector<double> Turned(const NeighbourTensors<T>& t, const T* x, int64_t token) {
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

// Row `row` of all C, one below the other.
template <class T>
std::vector<double> Multiplied(const NeighbourTensors<T>& t, const T* a, int64_t row) {
  const int64_t depth = t.b.shape[2], columns = t.b.shape[3];
  const T* b = t.b.data + row / t.x.shape[2] * depth * columns;
  std::vector<double> c(static_cast<size_t>(columns));
  for (int64_t k = 0; k < depth; ++k, b += columns) {
    const double factor = static_cast<double>(a[k]);
    for (int64_t j = 0; j < columns; ++j) {
      c[static_cast<size_t>(j)] += factor * static_cast<double>(b[j]);
    }
  }
  return c;
}

template <class T>
std::vector<double> Want(Op op, const NeighbourTensors<T>& t, int64_t row) {
  const T* const x = t.x.data + row * t.x.shape[3];
  if (op == Op::kMatmul) return Multiplied(t, x, row);
  return op == Op::kRmsNorm ? Normalised(t, x) : Turned(t, x, row % t.x.shape[2]);
}

constexpr Op kNeighbours[] = {Op::kRmsNorm, Op::kRotaryEmbedding, Op::kMatmul};

}  // namespace

bool IsNeighbour(Op op) { return std::ranges::find(kNeighbours, op) != std::end(kNeighbours); }

std::string_view NeighbourName(Op op) {
  return op == Op::kMatmul ? "matmul" : op == Op::kRmsNorm ? "rms_norm" : "rotary";
}

std::optional<Op> NeighbourOf(std::string_view name) {
  const auto* const found = std::ranges::find(kNeighbours, name, NeighbourName);
  if (found == std::end(kNeighbours)) return std::nullopt;
  return *found;
}

std::string_view NeighbourShape(Op op) {
  if (op == Op::kMatmul) return "1x1x1024x1024";
  return op == Op::kRmsNorm ? "1x1x8192x4096" : "1x32x8192x128";
}

std::string NeighbourLacks(Op op, const ForwardShape& s) {
  const bool one_tensor = s.kv_heads == s.heads && s.width == s.value_width && !s.causal.enabled;
  if (op == Op::kMatmul) {
    return one_tensor ? "" : "matmul has two factors, M x K and K x N: BxHxM:NxK";
  }
  if (one_tensor && s.queries == s.keys) return "";
  return fmt::format("{} has rows of one tensor: BxHxNxD", NeighbourName(op));
}

int64_t NeighbourFlops(Op op, const ForwardShape& s) {
  if (op == Op::kMatmul) return 2 * s.batch * s.heads * s.queries * s.keys * s.width;
  return s.batch * s.heads * s.queries * s.width * (op == Op::kRmsNorm ? 4 : 3);
}

int64_t NeighbourElements(Op op, const ForwardShape& s) {
  if (op == Op::kMatmul) {
    return s.batch * s.heads * (s.queries * s.width + s.width * s.keys + s.queries * s.keys);
  }
  const int64_t beside = op == Op::kRmsNorm ? s.width : 2 * s.queries * (s.width / 2);
  return 2 * s.batch * s.heads * s.queries * s.width + beside;
}

template <class T>
Status RunNeighbour(const Backend& backend, Op op, const NeighbourTensors<T>& t) {
  if (op == Op::kMatmul) return Matmul<T>(backend, t.x, t.b, t.y);
  if (op == Op::kRmsNorm) return RmsNorm<T>(backend, t.x, t.w, kNormEps, t.y);
  return RotaryEmbedding<T>(backend, t.x, {t.cos, t.sin}, RotaryPairing::kHalf, t.y);
}

template <class T>
void FillWithNan(const NeighbourTensors<T>& t) {
  std::fill_n(t.y.data, Size(t.y), std::numeric_limits<T>::quiet_NaN());
}

template <class T>
int64_t CountNonFinite(const NeighbourTensors<T>& t) {
  return std::count_if(t.y.data, t.y.data + Size(t.y), [](T x) { return !std::isfinite(x); });
}

double NeighbourTolerance(Op op, DType dtype, const ForwardShape& s) {
  const bool f32 = dtype == DType::kF32;
  const double epsilon = f32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  // The oracle itself is in f64.
  const double least = f32 ? 8 : 32;
  return epsilon * (op == Op::kMatmul ? least + std::sqrt(static_cast<double>(s.width)) : least);
}

template <class T>
Errors CompareNeighbour(Op op, const NeighbourTensors<T>& t, double tolerance) {
  const int64_t rows = t.x.shape[0] * t.x.shape[1] * t.x.shape[2];
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
    const T* const y = t.y.data + row * t.y.shape[3];
    const std::vector<double> want = Want(op, t, row);
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
  if (errors.non_finite > 0) {
    errors.failure = fmt::format("{} values are not finite", errors.non_finite);
  } else if (!(errors.max_rel <= tolerance)) {
    errors.failure =
        fmt::format("{}: relative error {:.2g}, allowed {:.2g}", worst, errors.max_rel, tolerance);
  }
  return errors;
}

#define ATTN_BENCH_INSTANTIATE(T)                                               \
  template Status RunNeighbour(const Backend&, Op, const NeighbourTensors<T>&); \
  template void FillWithNan(const NeighbourTensors<T>&);                        \
  template int64_t CountNonFinite(const NeighbourTensors<T>&);                  \
  template Errors CompareNeighbour(Op, const NeighbourTensors<T>&, double);
ATTN_BENCH_INSTANTIATE(float)
ATTN_BENCH_INSTANTIATE(double)
#undef ATTN_BENCH_INSTANTIATE

}  // namespace attn::bench
