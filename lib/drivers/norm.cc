// SPDX-License-Identifier: Apache-2.0
#include "attn/norm.h"

#include <cmath>

#include "drivers/attention_task.h"
#include "drivers/scratch.h"

namespace attn {
namespace {

template <class T>
Status CheckNorm(const View<const T, 4>& x, const View<const T, 1>& w, double eps) {
  ATTN_RETURN_IF_ERROR(CheckInput("X", x).status());
  ATTN_RETURN_IF_ERROR(CheckGiven("W", w, {x.shape[3]}));
  if (!std::isfinite(eps) || eps < 0) {
    return InvalidArgument("eps is ",
                           std::isnan(eps) ? "nan"
                           : eps < 0       ? "negative"
                                           : "infinite",
                           ", needed is a finite number from 0");
  }
  return {};
}

// Calls each(row offsets' index) for every row: [a][b][c].
template <class Function>
void ForEachRow(const Shape<4>& shape, Function each) {
  for (int64_t a = 0; a < shape[0]; ++a) {
    for (int64_t b = 0; b < shape[1]; ++b) {
      for (int64_t c = 0; c < shape[2]; ++c) each(a, b, c);
    }
  }
}

// 1 / rms of a row.
template <class T>
double Inverse(const View<const T, 4>& x, double eps, int64_t a, int64_t b, int64_t c) {
  const int64_t width = x.shape[3];
  double sum = 0;
  for (int64_t e = 0; e < width; ++e) {
    const double value = static_cast<double>(x(a, b, c, e));
    sum += value * value;
  }
  return 1 / std::sqrt(sum / static_cast<double>(width) + eps);
}

}  // namespace

template <class T>
Status RmsNorm(const View<const T, 4>& x, const View<const T, 1>& w, double eps,
               const View<T, 4>& y) {
  ATTN_RETURN_IF_ERROR(CheckNorm(x, w, eps));
  ATTN_RETURN_IF_ERROR(CheckResult("Y", y, x.shape));
  ForEachRow(x.shape, [&](int64_t a, int64_t b, int64_t c) {
    const T inverse = static_cast<T>(Inverse(x, eps, a, b, c));
    for (int64_t e = 0; e < x.shape[3]; ++e) y(a, b, c, e) = x(a, b, c, e) * inverse * w(e);
  });
  return {};
}

template <class T>
Status RmsNormBackward(const View<const T, 4>& x, const View<const T, 1>& w, double eps,
                       const View<const T, 4>& d_y, const View<T, 4>& d_x, const View<T, 1>& d_w) {
  ATTN_RETURN_IF_ERROR(CheckNorm(x, w, eps));
  ATTN_RETURN_IF_ERROR(CheckGiven("dY", d_y, x.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dX", d_x, x.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dW", d_w, w.shape));
  const int64_t width = x.shape[3];
  Scratch<double> sums(width);
  if (!sums.ok()) return NoScratch(width);
  double* const of_w = sums.data();
  for (int64_t e = 0; e < width; ++e) of_w[e] = 0;
  ForEachRow(x.shape, [&](int64_t a, int64_t b, int64_t c) {
    const double inverse = Inverse(x, eps, a, b, c);
    double dot = 0;
    for (int64_t e = 0; e < width; ++e) {
      const double n = static_cast<double>(x(a, b, c, e)) * inverse;
      const double up = static_cast<double>(d_y(a, b, c, e));
      dot += up * static_cast<double>(w(e)) * n;
      of_w[e] += up * n;
    }
    const double mean = dot / static_cast<double>(width);
    for (int64_t e = 0; e < width; ++e) {
      const double n = static_cast<double>(x(a, b, c, e)) * inverse;
      const double g = static_cast<double>(d_y(a, b, c, e)) * static_cast<double>(w(e));
      d_x(a, b, c, e) = static_cast<T>((g - n * mean) * inverse);
    }
  });
  for (int64_t e = 0; e < width; ++e) d_w(e) = static_cast<T>(of_w[e]);
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                 \
  template Status RmsNorm(const View<const T, 4>&, const View<const T, 1>&, double,         \
                          const View<T, 4>&);                                               \
  template Status RmsNormBackward(const View<const T, 4>&, const View<const T, 1>&, double, \
                                  const View<const T, 4>&, const View<T, 4>&, const View<T, 1>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
