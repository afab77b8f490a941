// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "reference/kernels.h"

namespace attn::reference {

template <class T>
T Softmax(T* s, int64_t n) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  T max = -kInf;
  for (int64_t j = 0; j < n; ++j) {
    // Written so that a NaN, once met, stays the maximum.
    if (!(s[j] <= max)) max = s[j];
    if (std::isnan(max)) break;
  }
  if (max == -kInf) {
    for (int64_t j = 0; j < n; ++j) s[j] = T{0};
    return -kInf;
  }
  T sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    s[j] = std::exp(s[j] - max);
    sum += s[j];
  }
  for (int64_t j = 0; j < n; ++j) s[j] /= sum;
  return max + std::log(sum);
}

template <class T>
void SoftmaxRows(const SoftmaxRowsTask<T>& task) {
  for (int64_t r = 0; r < task.rows; ++r) {
    T* p = task.p + r * task.p_row;
    for (int64_t c = 0; c < task.columns; ++c) p[c] = task.x[r * task.x_row + c];
    const T lse = Softmax(p, task.columns);
    if (task.lse != nullptr) task.lse[r * task.lse_row] = lse;
  }
}

template float Softmax(float*, int64_t);
template double Softmax(double*, int64_t);
template void SoftmaxRows(const SoftmaxRowsTask<float>&);
template void SoftmaxRows(const SoftmaxRowsTask<double>&);

}  // namespace attn::reference
