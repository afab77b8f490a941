// SPDX-License-Identifier: Apache-2.0
// attn_set_threads of the modules whose memory is not shared.
#include "abi/abi.h"

attn_status attn_set_threads(int32_t threads) {
  using namespace attn;
  if (threads == 0 || threads == 1) return ATTN_OK;
  if (threads < 0) {
    return abi::Report(InvalidArgument("threads is ", int64_t{threads}, ", needed is 0 or 1"));
  }
  return abi::Report(
      Unsupported("threads is ", int64_t{threads}, ", this module has the calling one alone"));
}
