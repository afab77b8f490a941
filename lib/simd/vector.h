// SPDX-License-Identifier: Apache-2.0
// The few operations a kernel is written in. Two lowerings provide them: highway-inl.h and
// xsimd-inl.h, each as `template <class T> struct Vec`, checked against this concept.
//
// This file is part of units compiled for one instruction set: it holds no function.
#ifndef ATTN_SIMD_VECTOR_H_
#define ATTN_SIMD_VECTOR_H_

#include <concepts>
#include <cstdint>

// Everything a kernel calls is inlined into the table's functions: the accumulators of a tile must
// stay in registers, and a unit must not emit a function that another unit could link to.
#define ATTN_INLINE inline __attribute__((always_inline))
// A part of a large kernel, inlined but in WebAssembly: V8 hands a function of more than 8192
// virtual registers to an allocator that is quick to compile, and backward as one function ran at
// 33 % of the peak where in parts it has 85 to 92 % (simd128; with relaxed SIMD, fewer
// instructions, it stayed below).
#if defined(__EMSCRIPTEN__)
#define ATTN_PART __attribute__((noinline))
#else
#define ATTN_PART ATTN_INLINE
#endif
// g++ unrolls nothing at -O2, and an array of vectors is only kept in registers once its loops are
// unrolled.
#define ATTN_UNROLL _Pragma("GCC unroll 16")

namespace attn {

template <class V>
concept SimdVector = requires(V a, V b, V c, typename V::Mask m, const typename V::T* p,
                              typename V::T* out, typename V::T x, int64_t n) {
  // Sizes. Lanes are fixed at compile time, so that vectors can be members and array elements;
  // this excludes SVE and RVV.
  { V::kLanes } -> std::convertible_to<int64_t>;
  // Rows of the micro-kernel's tile, which is kTileRows x 2 vectors (see kernels/matmul-inl.h).
  { V::kTileRows } -> std::convertible_to<int>;
  { V::kTileSteps } -> std::convertible_to<int>;  // of its inner loop, unrolled
  { V::kKeyBlock } -> std::convertible_to<int64_t>;

  { V::Set(x) } -> std::same_as<V>;
  { V::Load(p) } -> std::same_as<V>;              // any alignment
  { V::LoadPart(p, n, x) } -> std::same_as<V>;    // n < kLanes elements, the rest is x
  { a.Store(out) } -> std::same_as<void>;         // any alignment
  { a.StorePart(out, n) } -> std::same_as<void>;  // n < kLanes elements
  { a + b } -> std::same_as<V>;
  { a - b } -> std::same_as<V>;
  { a* b } -> std::same_as<V>;
  { a / b } -> std::same_as<V>;
  { MulAdd(a, b, c) } -> std::same_as<V>;  // a b + c, fused where the target fuses
  { Max(a, b) } -> std::same_as<V>;        // with a NaN: either operand
  { Less(a, b) } -> std::same_as<typename V::Mask>;
  { Equal(a, b) } -> std::same_as<typename V::Mask>;
  { Select(m, a, b) } -> std::same_as<V>;  // m ? a : b
  // Whole vectors: (a0 b0 a1 b1 ...) of the lower and of the upper halves.
  { InterleaveLower(a, b) } -> std::same_as<V>;
  { InterleaveUpper(a, b) } -> std::same_as<V>;
  { SwapPairs(a) } -> std::same_as<V>;           // (a1 a0 a3 a2 ...)
  { MantissaToExponent(a) } -> std::same_as<V>;  // bits << (mantissa bits of T)
  { Exponent(a) } -> std::same_as<V>;            // floor(log2 a) of positive normal numbers
  { ReduceSum(a) } -> std::same_as<typename V::T>;
  { ReduceMax(a) } -> std::same_as<typename V::T>;
};

}  // namespace attn

#endif  // ATTN_SIMD_VECTOR_H_
