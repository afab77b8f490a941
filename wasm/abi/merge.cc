// SPDX-License-Identifier: Apache-2.0
#include "attn/merge.h"

#include "abi/abi.h"

using namespace attn;
using namespace attn::abi;

attn_status attn_merge_states(const attn_tensor* o_a, const attn_tensor* lse_a,
                              const attn_tensor* o_b, const attn_tensor* lse_b,
                              const attn_tensor* o, const attn_tensor* lse) {
  return Dispatch("o_a", o_a, [&]<class T>(T) -> Status {
    AttentionState<const T> a, b;
    AttentionState<T> to;
    ATTN_RETURN_IF_ERROR(Read("o_a", o_a, a.o));
    ATTN_RETURN_IF_ERROR(Read("lse_a", lse_a, a.lse));
    ATTN_RETURN_IF_ERROR(Read("o_b", o_b, b.o));
    ATTN_RETURN_IF_ERROR(Read("lse_b", lse_b, b.lse));
    ATTN_RETURN_IF_ERROR(Read("o", o, to.o));
    ATTN_RETURN_IF_ERROR(Read("lse", lse, to.lse));
    return MergeStates(a, b, to);
  });
}
