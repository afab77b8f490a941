// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_BENCH_STATISTICS_H_
#define ATTN_BENCH_STATISTICS_H_

#include <cstdint>
#include <vector>

namespace attn::bench {

// The value below which the part `q` (0..1) of the samples lies, interpolated between the two
// nearest ranks (Hyndman and Fan 1996, type 7). NaN without samples.
double Quantile(std::vector<double> samples, double q);

// Times on a shared machine have a long tail on one side; the median and the middle 60 % are not
// moved by it, the mean and the standard deviation are.
struct Summary {
  double median;
  double p20, p80;
  int64_t count;
};
Summary Summarize(const std::vector<double>& samples);

}  // namespace attn::bench

#endif  // ATTN_BENCH_STATISTICS_H_
