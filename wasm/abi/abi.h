// SPDX-License-Identifier: Apache-2.0
// What the functions of attn.h share: errors, tensors, choice of a backend.
#ifndef ATTN_WASM_ABI_ABI_H_
#define ATTN_WASM_ABI_ABI_H_

#include <cstdint>

#include "attn.h"
#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn::abi {

// Keeps the message for attn_last_error and returns the code.
attn_status Report(const Status& status);

// The caller's struct must be the one that this library was compiled with.
Status CheckSize(const char* what, uint32_t got, uint32_t want);

// Null, or a struct of the right size?
template <class Struct>
Status CheckStruct(const char* what, const Struct* value) {
  if (value == nullptr) return InvalidArgument(what, " is null");
  return CheckSize(what, value->size, sizeof(Struct));
}

// All but the dtype, which the caller has matched.
Status CheckTensor(const char* what, const attn_tensor* tensor, DType dtype, int32_t rank);

template <class T, size_t kRank>
Status Read(const char* what, const attn_tensor* tensor, View<T, kRank>& view) {
  ATTN_RETURN_IF_ERROR(
      CheckTensor(what, tensor, DTypeOf<std::remove_const_t<T>>(), static_cast<int32_t>(kRank)));
  view.data = static_cast<T*>(tensor->data);
  for (size_t i = 0; i < kRank; ++i) {
    view.shape[i] = tensor->shape[i];
    view.strides[i] = tensor->strides[i];
  }
  return {};
}

// For tensors that may be absent: null leaves the view empty.
template <class T, size_t kRank>
Status ReadOptional(const char* what, const attn_tensor* tensor, View<T, kRank>& view) {
  return tensor == nullptr ? Status() : Read(what, tensor, view);
}

// Null: the default backend for f32 where it has `op`, else the reference.
Result<const Backend*> Choose(const char* name, Op op, DType dtype);

// run(float{}) or run(double{}), as `tensor` says.
template <class Run>
attn_status Dispatch(const char* what, const attn_tensor* tensor, Run run) {
  if (Status status = CheckStruct(what, tensor); !status.ok()) return Report(status);
  if (tensor->dtype == ATTN_F32) return Report(run(float{}));
  if (tensor->dtype == ATTN_F64) return Report(run(double{}));
  return Report(
      InvalidArgument(what, ": dtype ", int64_t{tensor->dtype}, ", needed is 0 (f32) or 1 (f64)"));
}

}  // namespace attn::abi

#endif  // ATTN_WASM_ABI_ABI_H_
