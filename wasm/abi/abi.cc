// SPDX-License-Identifier: Apache-2.0
#include "abi/abi.h"

#include <cstddef>
#include <cstring>

namespace {

// A fixed buffer, so that "out of memory" can be told without memory.
constexpr size_t kMessageBytes = 512;
thread_local char last_error[kMessageBytes] = "";

// Wrappers in other languages write these offsets down; 32- and 64-bit pointers must agree.
static_assert(sizeof(attn_tensor) == 88 && offsetof(attn_tensor, data) == 16 &&
              offsetof(attn_tensor, shape) == 24 && offsetof(attn_tensor, strides) == 56);
static_assert(sizeof(attn_attention_options) == 80 &&
              offsetof(attn_attention_options, query_offset) == 32 &&
              offsetof(attn_attention_options, scale) == 64);
static_assert(sizeof(attn_attention_rules) == 64 && offsetof(attn_attention_rules, mask_keep) == 8);
static_assert(sizeof(attn_lookup_options) == 24 && sizeof(attn_score_rule) == 32);
static_assert(static_cast<int>(attn::StatusCode::kOutOfMemory) == ATTN_OUT_OF_MEMORY);

// By dtype.
constexpr const char* kElementNames[] = {"f32", "f64", "u8", "i64"};
constexpr int64_t kElementBytes[] = {4, 8, 1, 8};

}  // namespace

namespace attn::abi {

attn_status Report(const Status& status) {
  if (!status.ok()) {
    const size_t n = status.message().copy(last_error, kMessageBytes - 1);
    last_error[n] = '\0';
  }
  return static_cast<attn_status>(status.code());
}

Status CheckSize(const char* what, uint32_t got, uint32_t want) {
  if (got == want) return {};
  return InvalidArgument(what, ": the caller's struct has ", int64_t{got},
                         " bytes, this library's has ", int64_t{want},
                         " (set its field size; is attn.h of the same version?)");
}

Status ReadExtents(const char* what, const attn_tensor* tensor, int32_t dtype, int32_t rank,
                   int64_t* shape, int64_t* strides) {
  ATTN_RETURN_IF_ERROR(CheckStruct(what, tensor));
  if (tensor->dtype != dtype) {
    return InvalidArgument(what, ": dtype ", int64_t{tensor->dtype}, ", needed is ", int64_t{dtype},
                           " (", kElementNames[dtype], ")");
  }
  if (tensor->rank != rank) {
    return InvalidArgument(what, ": rank ", int64_t{tensor->rank}, ", needed is ", int64_t{rank});
  }
  bool empty = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (tensor->shape[i] < 0) {
      return InvalidArgument(what, ": extent ", tensor->shape[i], " of axis ", int64_t{i});
    }
    empty = empty || tensor->shape[i] == 0;
    shape[i] = tensor->shape[i];
    strides[i] = tensor->strides[i];
  }
  if (empty) return {};
  // Strides may be negative, so both ends count. No element may lie where a pointer cannot go.
  const int64_t element = kElementBytes[dtype];
  int64_t reach = 1;
  for (int32_t i = 0; i < rank; ++i) {
    int64_t step;
    if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &step) ||
        __builtin_add_overflow(reach, step < 0 ? -(step + 1) : step, &reach) ||
        reach > PTRDIFF_MAX / element) {
      return InvalidArgument(what, ": extent ", tensor->shape[i], " with stride ",
                             tensor->strides[i], " of axis ", int64_t{i},
                             " is beyond the address space");
    }
  }
  const auto address = reinterpret_cast<uintptr_t>(tensor->data);
  if (address == 0) return InvalidArgument(what, ": data is null");
  if (address % static_cast<uintptr_t>(element) != 0) {
    return InvalidArgument(what, ": data is not aligned to ", element, " bytes");
  }
  return {};
}

Result<const Backend*> Choose(const char* name, Op op, DType dtype) {
  if (name != nullptr) return FindBackend(name);
  const Backend& fast = DefaultBackend();
  return dtype == DType::kF32 && fast.Supports(op, dtype) ? &fast : &ReferenceBackend();
}

}  // namespace attn::abi

using attn::Backend;
using attn::Backends;

uint32_t attn_abi_version() { return ATTN_ABI_VERSION; }

const char* attn_version() { return ATTN_VERSION; }

const char* attn_last_error() { return last_error; }

int32_t attn_backend_count() { return static_cast<int32_t>(Backends().size()); }

const char* attn_backend_name(int32_t index) {
  if (index < 0 || index >= attn_backend_count()) return nullptr;
  return Backends()[static_cast<size_t>(index)].name.c_str();
}

int64_t attn_backend_lanes(int32_t index, int32_t dtype) {
  if (index < 0 || index >= attn_backend_count() || dtype < ATTN_F32 || dtype > ATTN_F64) return 0;
  return Backends()[static_cast<size_t>(index)].Lanes(static_cast<attn::DType>(dtype));
}
