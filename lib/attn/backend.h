// SPDX-License-Identifier: Apache-2.0
// The one list of everything that can run an operation: tests, bench, command line and page share
// it. A backend that lacks an operation says so; it never crashes.
#ifndef ATTN_BACKEND_H_
#define ATTN_BACKEND_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "attn/executor.h"
#include "attn/half.h"
#include "attn/status.h"

namespace attn {

enum class DType : int32_t { kF32, kF64, kBF16, kF16 };
enum class Op : int32_t {
  kSoftmaxRows,
  kMatmul,
  kAttentionForward,
  kAttentionExplicit,
  kAttentionDecode,
  kAttentionBackward,
  kRmsNorm,
  kRotaryEmbedding,
  // The same code on every backend:
  kMergeStates,
};

std::string_view Name(DType dtype);
std::string_view Name(Op op);
template <class T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBF16;
  if constexpr (std::is_same_v<T, Float16>) return DType::kF16;
  return sizeof(T) == 4 ? DType::kF32 : DType::kF64;
}

template <class T>
struct KernelTable;  // kernels/tasks.h

// One way of running the operations: "reference", "highway:AVX3", "xsimd:avx2", ...
struct Backend {
  std::string name;
  const KernelTable<float>* f32 = nullptr;
  const KernelTable<double>* f64 = nullptr;
  // Not owned. Calls spread over it; null: the calling thread does all.
  const Executor* executor = nullptr;

  // The same backend on some threads; the executor must outlive it.
  Backend On(const Executor& threads) const { return {name, f32, f64, &threads}; }
  // The portable kernels on this backend's threads: the same bits on every machine, at the speed of
  // its baseline instructions and without fused multiply-add.
  Backend Bitwise() const;

  template <class T>
  const KernelTable<T>& table() const;
  bool Supports(Op op, DType dtype) const;
  // Lanes of a vector of this dtype; 1 for the reference. 0 when the dtype is not supported. Types
  // of 16 bits are f32 in registers.
  int64_t Lanes(DType dtype) const;
};

// Those that this machine can run: the reference, then each lowering from its widest instruction
// set to its narrowest, then the portable one.
std::span<const Backend> Backends();

// The oracle: the definitions in the article's order.
const Backend& ReferenceBackend();

// Plain C++ in a fixed order, the last of Backends(): its results have the same bits on every
// machine and in every browser, where inputs hold no NaN (whose sign is the processor's). digest.h
// shows it.
const Backend& PortableBackend();

// The fastest for f32 on this machine: Highway at its widest.
const Backend& DefaultBackend();

// By exact name; the error lists the names there are.
Result<const Backend*> FindBackend(std::string_view name);

}  // namespace attn

#endif  // ATTN_BACKEND_H_
