// SPDX-License-Identifier: Apache-2.0
#include "math/elementary.h"

#include <cstdint>
#include <limits>

#include "simd/vector.h"

namespace attn {
namespace {

#include "simd/portable-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/log-inl.h"

}  // namespace

double ExpOfNegative(double x) { return Exp(Vec<double>::Set(x)).raw[0]; }

double LogOf(double x) { return Log(Vec<double>::Set(x)).raw[0]; }

}  // namespace attn
