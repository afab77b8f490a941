// SPDX-License-Identifier: Apache-2.0
// The one kernel that needs AVX512_BF16, on xsimd's AVX-512. A unit of its own, as xsimd.cc is one
// for each instruction set.
#include <immintrin.h>

#include <cstdint>
#include <limits>
#include <xsimd/xsimd.hpp>

#include "kernels/tasks.h"
#include "math/visibility.h"
#include "simd/vector.h"
#include "targets/targets.h"

namespace attn {
namespace xsimd_avx512_bf16 {

namespace {

using Arch = xsimd::avx512bw;

#include "simd/xsimd-inl.h"
#include "kernels/exp-inl.h"
#include "kernels/log-inl.h"
#include "kernels/matmul-inl.h"
#include "kernels/panel-inl.h"
#include "kernels/ahead-inl.h"
#include "kernels/tanh-inl.h"
#include "kernels/block-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/attention-inl.h"
#include "kernels/attention-bf16-inl.h"

void Attend(const AttentionBF16Task& task) { AttendBF16(task); }

}  // namespace

// All that this unit exports: data, which any CPU can read.
extern const AttentionBF16 kAttention;
constinit const AttentionBF16 kAttention = Attend;

}  // namespace xsimd_avx512_bf16
}  // namespace attn
