// SPDX-License-Identifier: Apache-2.0
// What the functions of attn.h share: errors, tensors, choice of a backend.
#ifndef ATTN_WASM_ABI_ABI_H_
#define ATTN_WASM_ABI_ABI_H_

#include <cstdint>
#include <type_traits>

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

// ATTN_F32, ... of an element.
template <class T>
constexpr int32_t ElementCode() {
  if (std::is_integral_v<T>) return sizeof(T) == 1 ? ATTN_U8 : ATTN_I64;
  return sizeof(T) == 4 ? ATTN_F32 : ATTN_F64;
}

// Checks the tensor and copies its extents and strides, `rank` of each.
Status ReadExtents(const char* what, const attn_tensor* tensor, int32_t dtype, int32_t rank,
                   int64_t* shape, int64_t* strides);

template <class T, size_t kRank>
Status Read(const char* what, const attn_tensor* tensor, View<T, kRank>& view) {
  Status status = ReadExtents(what, tensor, ElementCode<T>(), static_cast<int32_t>(kRank),
                              view.shape.data(), view.strides.data());
  if (status.ok()) view.data = static_cast<T*>(tensor->data);
  return status;
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
