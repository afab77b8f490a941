// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "attn/backend.h"
#include "drivers/page_only.h"
#include "kernels/tasks.h"
#include "reference/kernels.h"
#include "targets/targets.h"

namespace attn {
namespace {

void Append(const char* lowering, std::span<const Target> targets, std::vector<Backend>& list) {
  for (const Target& target : targets) {
    if ((SupportedHighwayBits() & target.highway_bit) == 0) continue;
    list.push_back({std::string(lowering) + target.name, target.f32, target.f64});
  }
}

const std::vector<Backend>& List() {
  static const std::vector<Backend> list = [] {
    std::vector<Backend> backends = {
        {"reference", &reference::Table<float>(), &reference::Table<double>()}};
    Append("highway:", HighwayTargets(), backends);
    Append("xsimd:", XsimdTargets(), backends);
#if !defined(ATTN_PAGE_ONLY)
    backends.push_back({"portable", PortableF32(), PortableF64()});
#endif
    return backends;
  }();
  return list;
}

template <class T>
bool Has(const KernelTable<T>* table, Op op) {
  if (table == nullptr) return false;
  switch (op) {
    case Op::kSoftmaxRows:
      return table->softmax_rows != nullptr;
    case Op::kMatmul:
      return table->matmul != nullptr;
    case Op::kAttentionForward:
      return table->attention_flash != nullptr;
    case Op::kAttentionExplicit:
      return table->attention_explicit != nullptr;
    case Op::kAttentionDecode:
      return table->attention_decode != nullptr;
    case Op::kAttentionBackward:
      return table->attention_backward != nullptr;
    case Op::kRmsNorm:
      return table->rms_norm != nullptr;
    case Op::kRotaryEmbedding:
      return table->rotary != nullptr;
    case Op::kMergeStates:
      return true;
  }
  return false;
}

}  // namespace

std::string_view Name(DType dtype) {
  constexpr std::string_view kNames[] = {"f32", "f64", "bf16", "f16"};
  return kNames[static_cast<size_t>(dtype)];
}

std::string_view Name(Op op) {
  switch (op) {
    case Op::kSoftmaxRows:
      return "softmax_rows";
    case Op::kMatmul:
      return "matrix product";
    case Op::kAttentionForward:
      return "attention forward";
    case Op::kAttentionExplicit:
      return "attention forward (explicit)";
    case Op::kAttentionDecode:
      return "attention decode";
    case Op::kAttentionBackward:
      return "attention backward";
    case Op::kRmsNorm:
      return "rms norm";
    case Op::kRotaryEmbedding:
      return "rotary embedding";
    case Op::kMergeStates:
      return "merge states";
  }
  return "unknown operation";
}

template <>
const KernelTable<float>& Backend::table() const {
  return *f32;
}

template <>
const KernelTable<double>& Backend::table() const {
  return *f64;
}

Backend Backend::Bitwise() const {
  const Backend& portable = PortableBackend();
  return {portable.name, portable.f32, portable.f64, executor};
}

bool Backend::Supports(Op op, DType dtype) const {
  if (dtype == DType::kF32 || dtype == DType::kF64)
    return dtype == DType::kF32 ? Has(f32, op) : Has(f64, op);
  const bool attention = op == Op::kAttentionForward || op == Op::kAttentionExplicit ||
                         op == Op::kAttentionDecode || op == Op::kAttentionBackward;
  return !kPageOnly && attention && Has(f32, op);
}

int64_t Backend::Lanes(DType dtype) const {
  if (dtype == DType::kF64) return f64 == nullptr ? 0 : f64->lanes;
  if (kPageOnly && dtype != DType::kF32) return 0;
  return f32 == nullptr ? 0 : f32->lanes;
}

std::span<const Backend> Backends() { return List(); }

const Backend& ReferenceBackend() { return List()[0]; }

const Backend& PortableBackend() { return List().back(); }

const Backend& DefaultBackend() { return List()[List().size() > 1 ? 1 : 0]; }

Result<const Backend*> FindBackend(std::string_view name) {
  std::string names;
  for (const Backend& backend : Backends()) {
    if (backend.name == name) return &backend;
    names += (names.empty() ? "" : ", ") + backend.name;
  }
  return Status(StatusCode::kNotFound,
                Message("no backend \"", name, "\"; this machine has: ", names));
}

}  // namespace attn
