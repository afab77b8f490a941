// SPDX-License-Identifier: Apache-2.0
#include "reference/kernels.h"

namespace attn::reference {

template <class T>
void Matmul(const MatmulTask<T>& t) {
  for (int64_t i = 0; i < t.rows; ++i) {
    for (int64_t j = 0; j < t.columns; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < t.depth; ++k) {
        sum += t.a[i * t.a_row + k * t.a_col] * t.b[k * t.b_row + j * t.b_col];
      }
      T& c = t.c[i * t.c_row + j * t.c_col];
      c = t.add ? c + sum : sum;
    }
  }
}

template void Matmul(const MatmulTask<float>&);
template void Matmul(const MatmulTask<double>&);

}  // namespace attn::reference
