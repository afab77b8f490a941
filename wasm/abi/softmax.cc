// SPDX-License-Identifier: Apache-2.0
#include "attn/softmax.h"

#include "abi/abi.h"

using namespace attn;
using namespace attn::abi;

attn_status attn_softmax_rows(const char* backend, const attn_tensor* x, const attn_tensor* p,
                              const attn_tensor* lse) {
  return Dispatch("x", x, [&]<class T>(T) -> Status {
    View<const T, 2> in;
    View<T, 2> out;
    View<T, 1> sums;
    ATTN_RETURN_IF_ERROR(Read("x", x, in));
    ATTN_RETURN_IF_ERROR(Read("p", p, out));
    ATTN_RETURN_IF_ERROR(ReadOptional("lse", lse, sums));
    const auto on = Choose(backend, Op::kSoftmaxRows, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return SoftmaxRows(**on, in, out, sums);
  });
}

attn_status attn_softmax_jacobian(const attn_tensor* p, const attn_tensor* jacobian) {
  return Dispatch("p", p, [&]<class T>(T) -> Status {
    View<const T, 1> in;
    View<T, 2> out;
    ATTN_RETURN_IF_ERROR(Read("p", p, in));
    ATTN_RETURN_IF_ERROR(Read("jacobian", jacobian, out));
    return SoftmaxJacobian(in, out);
  });
}

attn_status attn_softmax_jacobian_product(const attn_tensor* p, const attn_tensor* g,
                                          const attn_tensor* out) {
  return Dispatch("p", p, [&]<class T>(T) -> Status {
    View<const T, 1> weights, upstream;
    View<T, 1> product;
    ATTN_RETURN_IF_ERROR(Read("p", p, weights));
    ATTN_RETURN_IF_ERROR(Read("g", g, upstream));
    ATTN_RETURN_IF_ERROR(Read("out", out, product));
    return SoftmaxJacobianProduct(weights, upstream, product);
  });
}

attn_status attn_softmax_finite_difference(const attn_tensor* z, int64_t j, double step,
                                           const attn_tensor* out) {
  return Dispatch("z", z, [&]<class T>(T) -> Status {
    View<const T, 1> scores;
    View<T, 1> column;
    ATTN_RETURN_IF_ERROR(Read("z", z, scores));
    ATTN_RETURN_IF_ERROR(Read("out", out, column));
    return SoftmaxFiniteDifference(scores, j, static_cast<T>(step), column);
  });
}
