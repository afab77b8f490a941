// SPDX-License-Identifier: Apache-2.0
// attn_attention_rules into what AttentionForward and the packed functions take.
#ifndef ATTN_WASM_ABI_RULES_H_
#define ATTN_WASM_ABI_RULES_H_

#include "abi/abi.h"
#include "attn/attention.h"
#include "drivers/page_only.h"

namespace attn::abi {

// What the page's module answers to a caller who asks for more.
Status NotInPage();

// One that is given stays present when it has no elements, and so may have no data.
template <class T, size_t kRank>
Status ReadRule(const char* what, const attn_tensor* tensor, View<const T, kRank>& view) {
  static constexpr T kNothing = {};
  ATTN_RETURN_IF_ERROR(ReadOptional(what, tensor, view));
  if (tensor != nullptr && !view.present()) view.data = &kNothing;
  return {};
}

template <class T>
Status ReadRules(const attn_attention_rules* from, AttentionInputs<T>& to,
                 PackedSequences& packed) {
  if (from == nullptr) return {};
  if (kPageOnly) return NotInPage();
  ATTN_RETURN_IF_ERROR(CheckStruct("rules", from));
  ATTN_RETURN_IF_ERROR(ReadRule("mask_keep", from->mask_keep, to.mask_keep));
  ATTN_RETURN_IF_ERROR(ReadRule("mask_add", from->mask_add, to.mask_add));
  ATTN_RETURN_IF_ERROR(ReadRule("sinks", from->sinks, to.sinks));
  ATTN_RETURN_IF_ERROR(ReadRule("kv_lens", from->kv_lens, to.kv_lens));
  ATTN_RETURN_IF_ERROR(ReadRule("page_table", from->page_table, to.page_table));
  if ((from->cu_seqlens_q == nullptr) != (from->cu_seqlens_k == nullptr)) {
    return InvalidArgument("cu_seqlens_q and cu_seqlens_k are needed together");
  }
  ATTN_RETURN_IF_ERROR(ReadRule("cu_seqlens_q", from->cu_seqlens_q, packed.cu_seqlens_q));
  return ReadRule("cu_seqlens_k", from->cu_seqlens_k, packed.cu_seqlens_k);
}

inline bool IsPacked(const PackedSequences& packed) {
  return !kPageOnly && packed.cu_seqlens_q.present();
}

}  // namespace attn::abi

#endif  // ATTN_WASM_ABI_RULES_H_
