// SPDX-License-Identifier: Apache-2.0
// The xsimd units that the build compiled, by the Highway bit that the CPU must have. Highway's
// detection alone decides; xsimd's is never asked.
#include <iterator>

#include "hwy/detect_targets.h"
#include "targets/targets.h"

namespace attn {

#define ATTN_DECLARE(isa)                       \
  namespace xsimd_##isa {                       \
    extern const KernelTable<float> kTableF32;  \
    extern const KernelTable<double> kTableF64; \
  }
#define ATTN_TARGET(bit, isa) {bit, #isa, &xsimd_##isa::kTableF32, &xsimd_##isa::kTableF64},

// Widest first. The build defines ATTN_HAVE_XSIMD_* for each unit that it compiles.
#if ATTN_HAVE_XSIMD_AVX512
ATTN_DECLARE(avx512)
#endif
#if ATTN_HAVE_XSIMD_AVX2
ATTN_DECLARE(avx2)
#endif
#if ATTN_HAVE_XSIMD_SSE2
ATTN_DECLARE(sse2)
#endif
#if ATTN_HAVE_XSIMD_NEON64
ATTN_DECLARE(neon64)
#endif
#if ATTN_HAVE_XSIMD_WASM
ATTN_DECLARE(wasm)
#endif

std::span<const Target> XsimdTargets() {
  static constexpr Target kTargets[] = {
#if ATTN_HAVE_XSIMD_AVX512
      ATTN_TARGET(HWY_AVX3, avx512)  // f, cd, dq, bw, vl
#endif
#if ATTN_HAVE_XSIMD_AVX2
      ATTN_TARGET(HWY_AVX2, avx2)  // with fma
#endif
#if ATTN_HAVE_XSIMD_SSE2
      ATTN_TARGET(HWY_SSE2, sse2)
#endif
#if ATTN_HAVE_XSIMD_NEON64
          ATTN_TARGET(HWY_NEON_WITHOUT_AES, neon64)
#endif
#if ATTN_HAVE_XSIMD_WASM
              ATTN_TARGET(HWY_WASM, wasm)
#endif
                  {0, "", nullptr, nullptr},  // so that a build without xsimd has an array
  };
  return std::span(kTargets).first(std::size(kTargets) - 1);
}

#if ATTN_HAVE_XSIMD_AVX512_BF16
namespace xsimd_avx512_bf16 {
extern const AttentionBF16 kAttention;
}

AttentionBF16 DotProductsOfBF16() {
  // The first Highway targets with AVX512_BF16, of AMD and of Intel.
  const bool has = (SupportedHighwayBits() & (HWY_AVX3_ZEN4 | HWY_AVX3_SPR)) != 0;
  return has ? xsimd_avx512_bf16::kAttention : nullptr;
}
#else
AttentionBF16 DotProductsOfBF16() { return nullptr; }
#endif

}  // namespace attn
