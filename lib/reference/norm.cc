// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "reference/kernels.h"

namespace attn::reference {
namespace {

template <class T>
double MeanOfSquares(const T* x, int64_t width, double scale) {
  double sum = 0;
  for (int64_t e = 0; e < width; ++e) {
    const double value = static_cast<double>(x[e]) * scale;
    sum += value * value;
  }
  return sum / static_cast<double>(width);
}

// A row divided by its rms is x scale inverse. The scale is a power of two, and 1 unless squares
// leave the range of f64.
class Rms {
 public:
  template <class T>
  Rms(const T* x, int64_t width, double eps) {
    double mean = MeanOfSquares(x, width, 1) + eps;
    if (!(mean >= 0x1p-960 && mean <= std::numeric_limits<double>::max())) {
      scale_ = mean < 0x1p-960 ? 0x1p600 : 0x1p-600;
      mean = MeanOfSquares(x, width, scale_) + eps * scale_ * scale_;
    }
    inverse_ = 1 / std::sqrt(mean);
  }
  double Divide(double x) const { return x * scale_ * inverse_; }

 private:
  double scale_ = 1, inverse_;
};

}  // namespace

template <class T>
void RmsNorm(const RmsNormTask<T>& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    T* const y = t.y + t.y_row[r];
    const Rms rms(x, t.width, t.eps);
    for (int64_t e = 0; e < t.width; ++e) {
      y[e] = static_cast<T>(rms.Divide(static_cast<double>(x[e])) * static_cast<double>(t.w[e]));
    }
  }
}

template <class T>
void RmsNormBackward(const RmsNormBackwardTask<T>& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    const T* const d_y = t.d_y + t.d_y_row[r];
    T* const d_x = t.d_x + t.d_x_row[r];
    const Rms rms(x, t.width, t.eps);
    double dot = 0;
    for (int64_t e = 0; e < t.width; ++e) {
      const double n = rms.Divide(static_cast<double>(x[e]));
      const double up = static_cast<double>(d_y[e]);
      dot += up * static_cast<double>(t.w[e]) * n;
      t.d_w[e] += up * n;
    }
    const double mean = dot / static_cast<double>(t.width);
    for (int64_t e = 0; e < t.width; ++e) {
      const double n = rms.Divide(static_cast<double>(x[e]));
      const double g = static_cast<double>(d_y[e]) * static_cast<double>(t.w[e]);
      d_x[e] = static_cast<T>(rms.Divide(g - n * mean));
    }
  }
}

template void RmsNorm(const RmsNormTask<float>&);
template void RmsNorm(const RmsNormTask<double>&);
template void RmsNormBackward(const RmsNormBackwardTask<float>&);
template void RmsNormBackward(const RmsNormBackwardTask<double>&);

}  // namespace attn::reference
