// SPDX-License-Identifier: Apache-2.0
// Vec<T> on Highway. Included once for each target, inside its namespace.

namespace hn = hwy::HWY_NAMESPACE;

template <class Element>
struct Vec {
  using T = Element;
  using Tag = hn::ScalableTag<T>;
  using Mask = hn::MFromD<Tag>;
  static_assert(!HWY_HAVE_SCALABLE, "Vec needs a fixed width: disable SVE and RVV");
  static constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag()));
#if HWY_TARGET_IS_NEON || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
  static constexpr int kTileRows = 8;  // 32 registers
#elif HWY_ARCH_WASM
  static constexpr int kTileRows = 4;
#else
  static constexpr int kTileRows = 6;  // 16 registers
#endif
  static constexpr int kTileSteps = HWY_ARCH_WASM ? 1 : 4;
  static constexpr int64_t kKeyBlock = HWY_ARCH_WASM ? 64 : 192;  // whole tiles of 8 and of 6

  hn::VFromD<Tag> raw;

  static ATTN_INLINE Vec Set(T x) { return {hn::Set(Tag(), x)}; }
  static ATTN_INLINE Vec Load(const T* p) { return {hn::LoadU(Tag(), p)}; }
  static ATTN_INLINE Vec LoadPart(const T* p, int64_t n, T fill) {
    return {hn::LoadNOr(hn::Set(Tag(), fill), Tag(), p, static_cast<size_t>(n))};
  }
  ATTN_INLINE void Store(T* p) const { hn::StoreU(raw, Tag(), p); }
  ATTN_INLINE void StorePart(T* p, int64_t n) const {
    hn::StoreN(raw, Tag(), p, static_cast<size_t>(n));
  }

  friend ATTN_INLINE Vec operator+(Vec a, Vec b) { return {hn::Add(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec operator-(Vec a, Vec b) { return {hn::Sub(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec operator*(Vec a, Vec b) { return {hn::Mul(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec operator/(Vec a, Vec b) { return {hn::Div(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec MulAdd(Vec a, Vec b, Vec c) {
#if defined(__wasm_relaxed_simd__)
    // Highway 1.2 multiplies, then adds, on WebAssembly.
    if constexpr (sizeof(T) == 4) {
      return {hn::VFromD<Tag>{wasm_f32x4_relaxed_madd(a.raw.raw, b.raw.raw, c.raw.raw)}};
    } else {
      return {hn::VFromD<Tag>{wasm_f64x2_relaxed_madd(a.raw.raw, b.raw.raw, c.raw.raw)}};
    }
#else
    return {hn::MulAdd(a.raw, b.raw, c.raw)};
#endif
  }
  friend ATTN_INLINE Vec Max(Vec a, Vec b) { return {hn::Max(a.raw, b.raw)}; }
  friend ATTN_INLINE Mask Less(Vec a, Vec b) { return hn::Lt(a.raw, b.raw); }
  friend ATTN_INLINE Mask Equal(Vec a, Vec b) { return hn::Eq(a.raw, b.raw); }
  friend ATTN_INLINE Vec Select(Mask m, Vec yes, Vec no) {
    return {hn::IfThenElse(m, yes.raw, no.raw)};
  }
  friend ATTN_INLINE Vec InterleaveLower(Vec a, Vec b) {
    return {hn::InterleaveWholeLower(Tag(), a.raw, b.raw)};
  }
  friend ATTN_INLINE Vec InterleaveUpper(Vec a, Vec b) {
    return {hn::InterleaveWholeUpper(Tag(), a.raw, b.raw)};
  }
  friend ATTN_INLINE Vec SwapPairs(Vec a) { return {hn::Reverse2(Tag(), a.raw)}; }
  friend ATTN_INLINE Vec MantissaToExponent(Vec a) {
    const hn::RebindToUnsigned<Tag> bits;
    constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    return {hn::BitCast(Tag(), hn::ShiftLeft<kMantissa>(hn::BitCast(bits, a.raw)))};
  }
  friend ATTN_INLINE Vec Exponent(Vec a) {
    // The biased exponent, moved into the mantissa of a number whose last bit counts 1.
    const hn::RebindToUnsigned<Tag> bits;
    constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    const Vec ones = Set(sizeof(T) == 4 ? T(0x1p23) : T(0x1p52));
    const auto moved = hn::ShiftRight<kMantissa>(hn::BitCast(bits, a.raw));
    const Vec biased = {hn::Or(hn::BitCast(Tag(), moved), ones.raw)};
    return biased - (ones + Set(sizeof(T) == 4 ? 127 : 1023));
  }
  friend ATTN_INLINE T ReduceSum(Vec a) { return hn::ReduceSum(Tag(), a.raw); }
  friend ATTN_INLINE T ReduceMax(Vec a) { return hn::ReduceMax(Tag(), a.raw); }
};
