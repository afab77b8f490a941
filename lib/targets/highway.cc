// SPDX-License-Identifier: Apache-2.0
// The kernels on Highway: this file includes itself once for each instruction set.
#include <cstdint>
#include <limits>

#include "kernels/tasks.h"
#include "math/visibility.h"
#include "simd/vector.h"
#include "targets/targets.h"

// Three x86 levels: f32 and f64 gain nothing from the ones between (SSSE3, SSE4) and above (VNNI,
// VBMI, BF16, FP16). SVE and RVV have no fixed width.
#if defined(ATTN_FEW_TARGETS)
#define ATTN_LEFT_OUT HWY_AVX2
#else
#define ATTN_LEFT_OUT 0
#endif
#define HWY_DISABLED_TARGETS                                                                     \
  (ATTN_LEFT_OUT | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR | HWY_SVE | \
   HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_NEON_BF16)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "targets/highway.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {
namespace {
#include "simd/highway-inl.h"
#include "kernels/kernels-inl.h"
}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

#if defined(ATTN_PAGE_ONLY)  // the page's module: f64 runs on the reference, 7 kB less
#define ATTN_F64(name) nullptr
#else
#define ATTN_F64(name) &N_##name::kTable<double>
#endif
#define ATTN_TARGET(name) {HWY_##name, #name, &N_##name::kTable<float>, ATTN_F64(name)},
constexpr Target kTargets[] = {
#if HWY_TARGETS & HWY_AVX3
    ATTN_TARGET(AVX3)
#endif
#if HWY_TARGETS & HWY_AVX2
        ATTN_TARGET(AVX2)
#endif
#if HWY_TARGETS & HWY_SSE2
            ATTN_TARGET(SSE2)
#endif
#if HWY_TARGETS & HWY_NEON
                ATTN_TARGET(NEON)
#endif
#if HWY_TARGETS & HWY_NEON_WITHOUT_AES
                    ATTN_TARGET(NEON_WITHOUT_AES)
#endif
#if HWY_TARGETS & HWY_WASM
                        ATTN_TARGET(WASM)
#endif
};
#undef ATTN_TARGET
#undef ATTN_F64

}  // namespace

std::span<const Target> HighwayTargets() { return kTargets; }

int64_t SupportedHighwayBits() {
#if HWY_ARCH_WASM
  return HWY_TARGETS;  // libhwy, which detects, is not linked; an engine without SIMD loads nothing
#else
  return hwy::SupportedTargets();
#endif
}

}  // namespace attn
#endif  // HWY_ONCE
