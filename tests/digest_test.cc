// SPDX-License-Identifier: Apache-2.0
#include "attn/digest.h"

#include <set>

#include "executors.h"
#include "testing.h"

namespace attn {
namespace {

TEST_CASE("the portable backend's bits are the same natively and in every browser") {
  const auto digest = BitwiseDigest(PortableBackend());
  REQUIRE(digest.ok());
  MESSAGE("digest: ", DigestText(*digest));
  CHECK(DigestText(*digest) == DigestText(kBitwiseDigest));
  const auto wide = BitwiseDigest(PortableBackend(), DType::kF64);
  REQUIRE(wide.ok());
  CHECK(DigestText(*wide) == DigestText(kBitwiseDigestF64));
  CHECK(BitwiseDigest(PortableBackend(), DType::kF16).status().code() == StatusCode::kUnsupported);
}

TEST_CASE("bitwise: any backend's calls, on its threads") {
  const testing::Backwards threads(3);
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Backend bitwise = backend.On(threads).Bitwise();
    CHECK(bitwise.executor == &threads);
    const int64_t runs = threads.runs;
    const auto digest = BitwiseDigest(bitwise);
    REQUIRE(digest.ok());
    CHECK(*digest == kBitwiseDigest);
    CHECK(threads.runs > runs);
  }
}

TEST_CASE("the digest sees what a fused or reordered sum changes") {
  // Those that fuse must differ from it, or it would prove nothing.
  std::set<uint64_t> seen;
  for (const Backend& backend : Backends()) {
    const auto digest = BitwiseDigest(backend);
    REQUIRE(digest.ok());
    seen.insert(*digest);
  }
  CHECK(seen.size() >= 3);
  CHECK(*BitwiseDigest(ReferenceBackend()) != kBitwiseDigest);
  CHECK(*BitwiseDigest(DefaultBackend()) != kBitwiseDigest);
}

TEST_CASE("a digest is written in sixteen digits") {
  CHECK(DigestText(0xabcdef) == "0000000000abcdef");
  CHECK(DigestText(0xfedcba9876543210) == "fedcba9876543210");
}

}  // namespace
}  // namespace attn
