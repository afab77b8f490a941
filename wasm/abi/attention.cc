// SPDX-License-Identifier: Apache-2.0
#include "attn/attention.h"

#include <utility>

#include "abi/abi.h"

namespace attn::abi {
namespace {

Status ReadOptions(const attn_attention_options* from, AttentionOptions& to) {
  if (from == nullptr) return {};
  ATTN_RETURN_IF_ERROR(CheckStruct("options", from));
  if (from->form != ATTN_FLASH && from->form != ATTN_EXPLICIT) {
    return InvalidArgument("options: form ", int64_t{from->form},
                           ", needed is 0 (flash) or 1 (explicit)");
  }
  if (from->align != ATTN_BOTTOM_RIGHT && from->align != ATTN_TOP_LEFT) {
    return InvalidArgument("options: align ", int64_t{from->align},
                           ", needed is 0 (bottom right) or 1 (top left)");
  }
  for (const auto& [what, flag] : {std::pair{"causal", from->causal},
                                   {"has_query_offset", from->has_query_offset},
                                   {"has_scale", from->has_scale}}) {
    if (flag != 0 && flag != 1) {
      return InvalidArgument("options: ", what, " ", int64_t{flag}, ", needed is 0 or 1");
    }
  }
  to.form = from->form == ATTN_FLASH ? AttentionForm::kFlash : AttentionForm::kExplicit;
  to.causal.enabled = from->causal != 0;
  to.causal.align = from->align == ATTN_TOP_LEFT ? Align::kTopLeft : Align::kBottomRight;
  if (from->has_query_offset != 0) to.causal.query_offset = from->query_offset;
  if (from->has_scale != 0) to.scale = from->scale;
  return {};
}

template <class T>
Status ReadInputs(const attn_tensor* q, const attn_tensor* k, const attn_tensor* v,
                  AttentionInputs<T>& to) {
  ATTN_RETURN_IF_ERROR(Read("q", q, to.q));
  ATTN_RETURN_IF_ERROR(Read("k", k, to.k));
  return Read("v", v, to.v);
}

}  // namespace
}  // namespace attn::abi

using namespace attn;
using namespace attn::abi;

attn_status attn_attention_forward(const char* backend, const attn_attention_options* options,
                                   const attn_tensor* q, const attn_tensor* k, const attn_tensor* v,
                                   const attn_tensor* o, const attn_tensor* lse) {
  return Dispatch("q", q, [&]<class T>(T) -> Status {
    AttentionOptions how;
    AttentionInputs<T> in;
    AttentionOutputs<T> out;
    ATTN_RETURN_IF_ERROR(ReadOptions(options, how));
    ATTN_RETURN_IF_ERROR(ReadInputs(q, k, v, in));
    ATTN_RETURN_IF_ERROR(Read("o", o, out.o));
    ATTN_RETURN_IF_ERROR(ReadOptional("lse", lse, out.lse));
    const Op op =
        how.form == AttentionForm::kFlash ? Op::kAttentionForward : Op::kAttentionExplicit;
    const auto on = Choose(backend, op, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return AttentionForward(**on, in, how, out);
  });
}

attn_status attn_attention_backward(const char* backend, const attn_attention_options* options,
                                    const attn_tensor* q, const attn_tensor* k,
                                    const attn_tensor* v, const attn_tensor* o,
                                    const attn_tensor* lse, const attn_tensor* d_o,
                                    const attn_tensor* d_lse, const attn_tensor* dq,
                                    const attn_tensor* dk, const attn_tensor* dv) {
  return Dispatch("q", q, [&]<class T>(T) -> Status {
    AttentionOptions how;
    AttentionInputs<T> in;
    AttentionUpstream<T> up;
    AttentionGradients<T> grad;
    ATTN_RETURN_IF_ERROR(ReadOptions(options, how));
    ATTN_RETURN_IF_ERROR(ReadInputs(q, k, v, in));
    ATTN_RETURN_IF_ERROR(Read("o", o, up.o));
    ATTN_RETURN_IF_ERROR(Read("lse", lse, up.lse));
    ATTN_RETURN_IF_ERROR(Read("d_o", d_o, up.d_o));
    ATTN_RETURN_IF_ERROR(ReadOptional("d_lse", d_lse, up.d_lse));
    ATTN_RETURN_IF_ERROR(Read("dq", dq, grad.dq));
    ATTN_RETURN_IF_ERROR(Read("dk", dk, grad.dk));
    ATTN_RETURN_IF_ERROR(Read("dv", dv, grad.dv));
    const auto on = Choose(backend, Op::kAttentionBackward, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return AttentionBackward(**on, in, how, up, grad);
  });
}

attn_status attn_attention_weights(const attn_attention_options* options, const attn_tensor* q,
                                   const attn_tensor* k, const attn_tensor* scores,
                                   const attn_tensor* weights) {
  return Dispatch("q", q, [&]<class T>(T) -> Status {
    AttentionOptions how;
    View<const T, 4> queries, keys;
    View<T, 4> s, p;
    ATTN_RETURN_IF_ERROR(ReadOptions(options, how));
    ATTN_RETURN_IF_ERROR(Read("q", q, queries));
    ATTN_RETURN_IF_ERROR(Read("k", k, keys));
    ATTN_RETURN_IF_ERROR(ReadOptional("scores", scores, s));
    ATTN_RETURN_IF_ERROR(ReadOptional("weights", weights, p));
    return AttentionWeights(queries, keys, how, s, p);
  });
}
