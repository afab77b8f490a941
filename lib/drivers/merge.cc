// SPDX-License-Identifier: Apache-2.0
#include "attn/merge.h"

#include <cmath>

#include "drivers/attention_task.h"
#include "math/elementary.h"

namespace attn {
namespace {

template <class T>
T Weight(T below) {
  return static_cast<T>(ExpOfNegative(static_cast<double>(below)));
}

}  // namespace

template <class T>
Status MergeStates(const AttentionState<const T>& a, const AttentionState<const T>& b,
                   const AttentionState<T>& to) {
  ATTN_RETURN_IF_ERROR(CheckInput("O_a", a.o).status());
  const auto [rows, width] = a.o.shape;
  ATTN_RETURN_IF_ERROR(CheckGiven("LSE_a", a.lse, {rows}));
  ATTN_RETURN_IF_ERROR(CheckGiven("O_b", b.o, {rows, width}));
  ATTN_RETURN_IF_ERROR(CheckGiven("LSE_b", b.lse, {rows}));
  ATTN_RETURN_IF_ERROR(CheckResult("O", to.o, {rows, width}));
  ATTN_RETURN_IF_ERROR(CheckResult("LSE", to.lse, {rows}));
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < rows; ++r) {
    const T x = a.lse(r), y = b.lse(r);
    // Relative to the larger one nothing overflows, and the smaller may vanish. NaN stays NaN.
    const T max = x > y || std::isnan(x) ? x : y;
    // A neutral state leaves the other as it is, also where that one is not finite.
    const T p = x == kNone ? T{0} : y == kNone ? T{1} : Weight(x - max);
    const T q = y == kNone ? T{0} : x == kNone ? T{1} : Weight(y - max);
    to.lse(r) =
        x == kNone || y == kNone ? max : max + static_cast<T>(LogOf(static_cast<double>(p + q)));
    const T wa = p == 0 ? T{0} : p / (p + q), wb = q == 0 ? T{0} : q / (p + q);
    for (int64_t c = 0; c < width; ++c) {
      const T from_a = x == kNone ? T{0} : wa * a.o(r, c);
      const T from_b = y == kNone ? T{0} : wb * b.o(r, c);
      to.o(r, c) = from_a + from_b;
    }
  }
  return {};
}

template Status MergeStates(const AttentionState<const float>&, const AttentionState<const float>&,
                            const AttentionState<float>&);
template Status MergeStates(const AttentionState<const double>&,
                            const AttentionState<const double>&, const AttentionState<double>&);

}  // namespace attn
