// SPDX-License-Identifier: Apache-2.0
#include "attn/backend.h"

#include <set>

#include "targets/targets.h"
#include "testing.h"

namespace attn {
namespace {

TEST_CASE("the reference is first and does everything") {
  const Backend& reference = Backends()[0];
  CHECK(reference.name == "reference");
  CHECK(&reference == &ReferenceBackend());
  for (Op op :
       {Op::kSoftmaxRows, Op::kAttentionForward, Op::kAttentionExplicit, Op::kAttentionBackward}) {
    for (DType dtype : {DType::kF32, DType::kF64}) {
      CHECK_MESSAGE(reference.Supports(op, dtype), Name(op), " ", Name(dtype));
    }
  }
}

TEST_CASE("both lowerings run here, from this machine's widest set to the baseline") {
  std::set<std::string> names;
  for (const Backend& backend : Backends()) {
    MESSAGE(backend.name, ": ", backend.Lanes(DType::kF32), " lanes of f32");
    CHECK_MESSAGE(names.insert(backend.name).second, "listed twice: ", backend.name);
    for (DType dtype : {DType::kF32, DType::kF64}) {
      CHECK(backend.Supports(Op::kSoftmaxRows, dtype));
      CHECK(backend.Supports(Op::kAttentionForward, dtype));
      CHECK(backend.Supports(Op::kAttentionExplicit, dtype));
    }
    CHECK(backend.Lanes(DType::kF32) ==
          (backend.name == "reference" ? 1 : 2) * backend.Lanes(DType::kF64));
  }
#if defined(__wasm__)
  CHECK(names.contains("highway:WASM"));
  CHECK(names.contains("xsimd:wasm"));
#elif defined(__x86_64__)
  const bool avx2 = ATTN_EXPECT_AVX2 && __builtin_cpu_supports("avx2") != 0;
  const bool avx512 = __builtin_cpu_supports("avx512bw") != 0;
  CHECK(names.contains("highway:SSE2"));
  CHECK(names.contains("highway:AVX2") == avx2);
  CHECK(names.contains("highway:AVX3") == avx512);
  CHECK(names.contains("xsimd:sse2") == (ATTN_EXPECT_XSIMD != 0));
  CHECK(names.contains("xsimd:avx2") == (ATTN_EXPECT_XSIMD && avx2));
  CHECK(names.contains("xsimd:avx512") == (ATTN_EXPECT_XSIMD && avx512));
#endif
}

TEST_CASE("the widest Highway target is the default") {
  for (const Backend& backend : Backends()) {
    if (&backend == &PortableBackend()) continue;  // lanes of its own, whatever the registers
    CHECK(backend.Lanes(DType::kF32) <= DefaultBackend().Lanes(DType::kF32));
  }
  CHECK(DefaultBackend().name.starts_with("highway:"));
}

TEST_CASE("a backend is found by its exact name, and an unknown name is answered with the list") {
  for (const Backend& backend : Backends()) {
    const auto found = FindBackend(backend.name);
    REQUIRE(found.ok());
    CHECK(*found == &backend);
  }
  const auto found = FindBackend("highway:Z80");
  REQUIRE(!found.ok());
  CHECK(found.status().code() == StatusCode::kNotFound);
  CHECK(found.status().message().starts_with(
      "no backend \"highway:Z80\"; this machine has: reference, highway:"));
}

}  // namespace
}  // namespace attn
