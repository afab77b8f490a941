// SPDX-License-Identifier: Apache-2.0
#include "attn/norm.h"

#include "abi/abi.h"
#include "abi/threads.h"

using namespace attn;
using namespace attn::abi;

attn_status attn_rms_norm(const attn_tensor* x, const attn_tensor* w, double eps,
                          const attn_tensor* y) {
  return Dispatch("x", x, [&]<class T>(T) -> Status {
    View<const T, 4> in;
    View<const T, 1> weight;
    View<T, 4> out;
    ATTN_RETURN_IF_ERROR(Read("x", x, in));
    ATTN_RETURN_IF_ERROR(Read("w", w, weight));
    ATTN_RETURN_IF_ERROR(Read("y", y, out));
    const auto on = Choose(nullptr, Op::kRmsNorm, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(
        **on, [&](const Backend& backend) { return RmsNorm(backend, in, weight, eps, out); });
  });
}

attn_status attn_rms_norm_backward(const attn_tensor* x, const attn_tensor* w, double eps,
                                   const attn_tensor* d_y, const attn_tensor* d_x,
                                   const attn_tensor* d_w) {
  return Dispatch("x", x, [&]<class T>(T) -> Status {
    View<const T, 4> in, upstream;
    View<const T, 1> weight;
    View<T, 4> gradient;
    View<T, 1> of_weight;
    ATTN_RETURN_IF_ERROR(Read("x", x, in));
    ATTN_RETURN_IF_ERROR(Read("w", w, weight));
    ATTN_RETURN_IF_ERROR(Read("d_y", d_y, upstream));
    ATTN_RETURN_IF_ERROR(Read("d_x", d_x, gradient));
    ATTN_RETURN_IF_ERROR(Read("d_w", d_w, of_weight));
    const auto on = Choose(nullptr, Op::kRmsNorm, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(**on, [&](const Backend& backend) {
      return RmsNormBackward(backend, in, weight, eps, upstream, gradient, of_weight);
    });
  });
}
