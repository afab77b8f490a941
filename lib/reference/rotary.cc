// SPDX-License-Identifier: Apache-2.0
#include "reference/kernels.h"

namespace attn::reference {

template <class T>
void Rotary(const RotaryTask<T>& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    T* const y = t.y + t.y_row[r];
    for (int64_t k = 0; k < t.half; ++k) {
      const int64_t first = t.interleaved ? 2 * k : k;
      const int64_t second = t.interleaved ? 2 * k + 1 : k + t.half;
      const T cos = t.cos[t.cos_row[r] + k], sin = t.direction * t.sin[t.sin_row[r] + k];
      const T x1 = x[first], x2 = x[second];
      y[first] = x1 * cos - x2 * sin;
      y[second] = x1 * sin + x2 * cos;
    }
    for (int64_t c = 2 * t.half; c < t.width; ++c) y[c] = x[c];
  }
}

template void Rotary(const RotaryTask<float>&);
template void Rotary(const RotaryTask<double>&);

}  // namespace attn::reference
