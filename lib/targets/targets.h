// SPDX-License-Identifier: Apache-2.0
// What each lowering offers to the registry. Only data is read here: no code that was compiled for
// an instruction set runs before the CPU is known to have it.
#ifndef ATTN_TARGETS_TARGETS_H_
#define ATTN_TARGETS_TARGETS_H_

#include <cstdint>
#include <span>

#include "kernels/tasks.h"

namespace attn {

struct Target {
  int64_t highway_bit;  // the HWY_* bit that the CPU must have
  const char* name;     // without the lowering: "AVX3", "avx2"
  const KernelTable<float>* f32;
  const KernelTable<double>* f64;
};

// Compiled into this library, widest first.
std::span<const Target> HighwayTargets();
std::span<const Target> XsimdTargets();

// For the machine that every program of this build runs on.
const KernelTable<float>* PortableF32();
const KernelTable<double>* PortableF64();  // or null: this build has none

// Attention forward by dot products of bf16, or null: this CPU, or this build, has none.
using AttentionBF16 = void (*)(const AttentionBF16Task&);
AttentionBF16 DotProductsOfBF16();

// The HWY_* bits of this machine.
int64_t SupportedHighwayBits();

}  // namespace attn

#endif  // ATTN_TARGETS_TARGETS_H_
