// SPDX-License-Identifier: Apache-2.0
// Attention over a set of keys from attention over its parts.
#ifndef ATTN_MERGE_H_
#define ATTN_MERGE_H_

#include "attn/status.h"
#include "attn/tensor.h"

namespace attn {

// What attention over some keys leaves of a row: O [rows][Dv] and LSE [rows].
template <class T>
struct AttentionState {
  View<T, 2> o;
  View<T, 1> lse;
};

// The state over the keys of a and b together (Dao et al. 2022, section 3.1):
// LSE = log(e^LSE_a + e^LSE_b), O = (e^LSE_a O_a + e^LSE_b O_b) / e^LSE. Associative; a state with
// LSE -inf is neutral and its O is not read, so it may be unwritten memory. `to` may be a or b.
// Errors (nothing written): shapes that differ, a tensor without data, an output with stride 0.
template <class T>
Status MergeStates(const AttentionState<const T>& a, const AttentionState<const T>& b,
                   const AttentionState<T>& to);

}  // namespace attn

#endif  // ATTN_MERGE_H_
