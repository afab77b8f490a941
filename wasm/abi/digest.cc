// SPDX-License-Identifier: Apache-2.0
#include "attn/digest.h"

#include "abi/abi.h"
#include "abi/result.h"

using namespace attn;

attn_status attn_bitwise_digest(const char* backend, attn_result** result) {
  return abi::Report([&]() -> Status {
    if (result == nullptr) return InvalidArgument("result is null");
    const Result<const Backend*> on =
        backend == nullptr ? &PortableBackend() : FindBackend(backend);
    if (!on.ok()) return on.status();
    return abi::Deliver(BitwiseDigest(**on), result, [](uint64_t digest, attn_result& to) {
      to.Add("digest", DigestText(digest));
      to.Add("native", DigestText(kBitwiseDigest));
    });
  }());
}
