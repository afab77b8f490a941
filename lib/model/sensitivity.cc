// SPDX-License-Identifier: Apache-2.0
// Step 3 of the article: the Jacobian of softmax, what it costs, and where it vanishes.
#include <algorithm>
#include <cmath>

#include "attn/experiment.h"
#include "attn/softmax.h"

namespace attn {

Result<Sensitivity> SoftmaxSensitivity(const Backend& backend, std::span<const double> z,
                                       double multiplier, double step) {
  constexpr size_t kLimit = 4096;  // J is 128 MiB there
  if (z.empty() || z.size() > kLimit) {
    return InvalidArgument("z: length ", static_cast<int64_t>(z.size()), " is not in 1..",
                           static_cast<int64_t>(kLimit));
  }
  if (step == 0 || !std::isfinite(step)) return InvalidArgument("step must be finite and not 0");

  const auto n = static_cast<int64_t>(z.size());
  std::vector<double> scores(z.begin(), z.end());
  for (double& s : scores) s *= multiplier;
  Sensitivity out;
  out.step = step;
  out.p.resize(z.size());
  out.row_sums.resize(z.size());
  out.jacobian.resize(z.size() * z.size());
  out.nudged.resize(z.size() * z.size());
  ATTN_RETURN_IF_ERROR(SoftmaxRows<double>(backend, View<const double, 2>(scores.data(), {1, n}),
                                           View<double, 2>(out.p.data(), {1, n})));
  ATTN_RETURN_IF_ERROR(SoftmaxJacobian<double>(View<const double, 1>(out.p.data(), {n}),
                                               View<double, 2>(out.jacobian.data(), {n, n})));
  for (int64_t j = 0; j < n; ++j) {
    const View<double, 1> column(out.nudged.data() + j, {n}, {n});
    ATTN_RETURN_IF_ERROR(SoftmaxFiniteDifference<double>(View<const double, 1>(scores.data(), {n}),
                                                         j, step, column));
  }
  for (size_t i = 0; i < z.size(); ++i) {
    for (size_t j = 0; j < z.size(); ++j) {
      const size_t at = i * z.size() + j;
      out.row_sums[i] += out.jacobian[at];
      out.largest_difference =
          std::max(out.largest_difference, std::abs(out.nudged[at] - out.jacobian[at]));
    }
  }
  return out;
}

Result<JacobianProduct> MultiplyJacobian(std::span<const double> p, std::span<const double> g) {
  if (p.empty()) return InvalidArgument("p: length 0, at least 1 is needed");
  if (g.size() != p.size()) {
    return InvalidArgument("g: length ", static_cast<int64_t>(g.size()), ", p has ",
                           static_cast<int64_t>(p.size()));
  }
  const auto n = static_cast<int64_t>(p.size());
  JacobianProduct out;
  out.fast.resize(p.size());
  out.slow.resize(p.size());
  for (size_t i = 0; i < p.size(); ++i) out.dot += p[i] * g[i];
  ATTN_RETURN_IF_ERROR(SoftmaxJacobianProduct<double>(View<const double, 1>(p.data(), {n}),
                                                      View<const double, 1>(g.data(), {n}),
                                                      View<double, 1>(out.fast.data(), {n})));
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t j = 0; j < p.size(); ++j) {
      out.slow[i] += (i == j ? p[i] - p[i] * p[j] : -p[i] * p[j]) * g[j];
    }
  }
  out.fast_operations = 4 * n - 1;
  out.slow_operations = 2 * n * n - n;
  return out;
}

}  // namespace attn
