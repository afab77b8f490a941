// SPDX-License-Identifier: Apache-2.0
#include "attn/attention.h"

#include "abi/abi.h"
#include "abi/rules.h"
#include "abi/threads.h"

namespace attn::abi {
namespace {

static_assert(static_cast<int>(AttentionForm::kAuto) == ATTN_AUTO &&
              static_cast<int>(AttentionForm::kFlash) == ATTN_FLASH &&
              static_cast<int>(AttentionForm::kExplicit) == ATTN_EXPLICIT &&
              static_cast<int>(AttentionForm::kDecode) == ATTN_DECODE);

// What the page's module has not, and what it would otherwise drop in silence.
bool IsFull(const attn_attention_options& from) {
  return from.form == ATTN_DECODE || from.has_window_left != 0 || from.has_window_right != 0 ||
         from.kv_splits != 0 || from.softcap != 0;
}

Status CheckFlag(const char* what, int32_t flag) {
  if (flag == 0 || flag == 1) return {};
  return InvalidArgument("options: ", what, " ", int64_t{flag}, ", needed is 0 or 1");
}

Status ReadOptions(const attn_attention_options* from, AttentionOptions& to) {
  if (from == nullptr) return {};
  ATTN_RETURN_IF_ERROR(CheckStruct("options", from));
  if (from->form < ATTN_AUTO || from->form > ATTN_DECODE) {
    return InvalidArgument("options: form ", int64_t{from->form},
                           ", needed is 0 (auto), 1 (flash), 2 (explicit) or 3 (decode)");
  }
  if (from->align != ATTN_BOTTOM_RIGHT && from->align != ATTN_TOP_LEFT) {
    return InvalidArgument("options: align ", int64_t{from->align},
                           ", needed is 0 (bottom right) or 1 (top left)");
  }
  ATTN_RETURN_IF_ERROR(CheckFlag("causal", from->causal));
  ATTN_RETURN_IF_ERROR(CheckFlag("has_query_offset", from->has_query_offset));
  ATTN_RETURN_IF_ERROR(CheckFlag("has_scale", from->has_scale));
  to.form = static_cast<AttentionForm>(from->form);
  to.causal.enabled = from->causal != 0;
  to.causal.align = from->align == ATTN_TOP_LEFT ? Align::kTopLeft : Align::kBottomRight;
  if (from->has_query_offset != 0) to.causal.query_offset = from->query_offset;
  if (from->has_scale != 0) to.scale = from->scale;
  if (kPageOnly) return IsFull(*from) ? NotInPage() : Status();
  ATTN_RETURN_IF_ERROR(CheckFlag("has_window_left", from->has_window_left));
  ATTN_RETURN_IF_ERROR(CheckFlag("has_window_right", from->has_window_right));
  if (from->has_window_left != 0) to.window.left = from->window_left;
  if (from->has_window_right != 0) to.window.right = from->window_right;
  to.softcap = from->softcap;
  to.kv_splits = from->kv_splits;
  return {};
}

template <class T>
Status ReadInputs(const attn_tensor* q, const attn_tensor* k, const attn_tensor* v,
                  AttentionInputs<T>& to) {
  ATTN_RETURN_IF_ERROR(Read("q", q, to.q));
  ATTN_RETURN_IF_ERROR(Read("k", k, to.k));
  return Read("v", v, to.v);
}

Op OpOf(AttentionForm form) {
  switch (form) {
    case AttentionForm::kExplicit:
      return Op::kAttentionExplicit;
    case AttentionForm::kDecode:
      return Op::kAttentionDecode;
    default:
      return Op::kAttentionForward;
  }
}

}  // namespace

Status NotInPage() {
  return {StatusCode::kUnsupported,
          "rules, window, softcap, kv_splits and decode are not in the page's module but in "
          "attn.full.*.wasm: load({ full: true })"};
}

}  // namespace attn::abi

using namespace attn;
using namespace attn::abi;

attn_status attn_attention_forward(const char* backend, const attn_attention_options* options,
                                   const attn_attention_rules* rules, const attn_tensor* q,
                                   const attn_tensor* k, const attn_tensor* v, const attn_tensor* o,
                                   const attn_tensor* lse) {
  return Dispatch("q", q, [&]<class T>(T) -> Status {
    AttentionOptions how;
    AttentionInputs<T> in;
    PackedSequences packed;
    AttentionOutputs<T> out;
    ATTN_RETURN_IF_ERROR(ReadOptions(options, how));
    ATTN_RETURN_IF_ERROR(ReadInputs(q, k, v, in));
    ATTN_RETURN_IF_ERROR(ReadRules(rules, in, packed));
    ATTN_RETURN_IF_ERROR(Read("o", o, out.o));
    ATTN_RETURN_IF_ERROR(ReadOptional("lse", lse, out.lse));
    const auto on = Choose(backend, OpOf(how.form), DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(**on, [&](const Backend& threaded) {
      return IsPacked(packed) ? AttentionForwardPacked(threaded, in, packed, how, out)
                              : AttentionForward(threaded, in, how, out);
    });
  });
}

attn_status attn_attention_backward(const char* backend, const attn_attention_options* options,
                                    const attn_attention_rules* rules, const attn_tensor* q,
                                    const attn_tensor* k, const attn_tensor* v,
                                    const attn_tensor* o, const attn_tensor* lse,
                                    const attn_tensor* d_o, const attn_tensor* d_lse,
                                    const attn_tensor* dq, const attn_tensor* dk,
                                    const attn_tensor* dv, const attn_tensor* d_sinks) {
  return Dispatch("q", q, [&]<class T>(T) -> Status {
    AttentionOptions how;
    AttentionInputs<T> in;
    PackedSequences packed;
    AttentionUpstream<T> up;
    AttentionGradients<T> grad;
    ATTN_RETURN_IF_ERROR(ReadOptions(options, how));
    ATTN_RETURN_IF_ERROR(ReadInputs(q, k, v, in));
    ATTN_RETURN_IF_ERROR(ReadRules(rules, in, packed));
    ATTN_RETURN_IF_ERROR(Read("o", o, up.o));
    ATTN_RETURN_IF_ERROR(Read("lse", lse, up.lse));
    ATTN_RETURN_IF_ERROR(Read("d_o", d_o, up.d_o));
    ATTN_RETURN_IF_ERROR(ReadOptional("d_lse", d_lse, up.d_lse));
    ATTN_RETURN_IF_ERROR(Read("dq", dq, grad.dq));
    ATTN_RETURN_IF_ERROR(Read("dk", dk, grad.dk));
    ATTN_RETURN_IF_ERROR(Read("dv", dv, grad.dv));
    ATTN_RETURN_IF_ERROR(ReadOptional("d_sinks", d_sinks, grad.d_sinks));
    const auto on = Choose(backend, Op::kAttentionBackward, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(**on, [&](const Backend& threaded) {
      return IsPacked(packed) ? AttentionBackwardPacked(threaded, in, packed, how, up, grad)
                              : AttentionBackward(threaded, in, how, up, grad);
    });
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
