// SPDX-License-Identifier: Apache-2.0
// The kernels on xsimd. Compiled once for each instruction set, with that set's flags, into a
// namespace of its own: ATTN_XSIMD_ISA is sse2, avx2, avx512, neon64 or wasm. Always -O2, so that
// nothing of xsimd or of the standard library is left as a function that a baseline unit could
// link to; tests/odr_guard proves it.
#include <cstdint>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "kernels/tasks.h"
#include "math/visibility.h"
#include "simd/vector.h"

#define ATTN_JOIN_(a, b) a##b
#define ATTN_JOIN(a, b) ATTN_JOIN_(a, b)
#define ATTN_XSIMD_NAMESPACE ATTN_JOIN(xsimd_, ATTN_XSIMD_ISA)

namespace attn {
namespace ATTN_XSIMD_NAMESPACE {

namespace {

namespace isa {
using sse2 = xsimd::sse2;
using avx2 = xsimd::fma3<xsimd::avx2>;
using avx512 = xsimd::avx512bw;
using neon64 = xsimd::neon64;
using wasm = xsimd::wasm;
}  // namespace isa
using Arch = isa::ATTN_XSIMD_ISA;

#include "simd/xsimd-inl.h"
#include "kernels/kernels-inl.h"

}  // namespace

// All that this unit exports: data, which any CPU can read.
extern const KernelTable<float> kTableF32;
extern const KernelTable<double> kTableF64;
constinit const KernelTable<float> kTableF32 = kTable<float>;
constinit const KernelTable<double> kTableF64 = kTable<double>;

}  // namespace ATTN_XSIMD_NAMESPACE
}  // namespace attn
