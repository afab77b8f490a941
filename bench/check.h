// SPDX-License-Identifier: Apache-2.0
// A timing counts only when its result is right. Rows of the output are computed once more in f64,
// from the definition and independently of the library, and compared.
#ifndef ATTN_BENCH_CHECK_H_
#define ATTN_BENCH_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attn/attention.h"
#include "bench/shape.h"

namespace attn::bench {

struct Errors {
  double max_abs = 0;      // of O, over the sampled rows
  double max_rel = 0;      // max_abs / the largest |O| of the sampled rows
  double max_lse = 0;      // of LSE, absolute
  int64_t non_finite = 0;  // in all of O and LSE, where the result must be finite
  int64_t rows = 0;        // sampled
  std::string failure;     // empty when the result is right; else what, where, and by how much
};

// Relative to the largest output, and absolute for LSE (whose values are near ln Sk). Rounding adds
// up like a random walk over the Sk terms of a sum. The kernels show a tenth of this; an error of
// one key in a thousand shows as 1e-3.
double Tolerance(DType dtype, int64_t keys);

template <class T>
class Oracle {
 public:
  // Computes the sampled rows: of each head the first, the last, and pseudo-random ones between,
  // 16 to 128 in all or as many heads as there are, fewer when keys are so many that it would take
  // seconds.
  Oracle(const AttentionInputs<T>& inputs, const ForwardShape& shape);

  Errors Compare(const AttentionOutputs<T>& outputs) const;

 private:
  struct Sample {
    int64_t b, h, i;
    std::vector<double> o;
    double lse;
  };
  Sample Compute(const AttentionInputs<T>& inputs, int64_t b, int64_t h, int64_t i) const;

  ForwardShape shape_;
  std::vector<Sample> samples_;
};

// Some rows of each gradient, from the definition, with the O and LSE that backward is given.
template <class T>
class GradientOracle {
 public:
  GradientOracle(const AttentionInputs<T>& inputs, const AttentionUpstream<T>& upstream,
                 const ForwardShape& shape);

  // Errors are relative to the largest value of each gradient's sampled rows.
  Errors Compare(const AttentionGradients<T>& gradients) const;

 private:
  struct Sample {
    int64_t b, h, row;
    std::vector<double> values;
  };

  ForwardShape shape_;
  std::vector<Sample> dq_, dk_, dv_;
};

template <class T>
void FillWithNan(const AttentionGradients<T>& gradients);

template <class T>
int64_t CountNonFinite(const AttentionGradients<T>& gradients);

// Before a timed call, so that a place that is not written shows.
template <class T>
void FillWithNan(const AttentionOutputs<T>& outputs);

template <class T>
int64_t CountNonFinite(const AttentionOutputs<T>& outputs, const ForwardShape& shape);

}  // namespace attn::bench

#endif  // ATTN_BENCH_CHECK_H_
