// SPDX-License-Identifier: Apache-2.0
// Vec<T> on xsimd. Included once for each instruction set, inside its namespace; `Arch` is the
// xsimd architecture that the unit is compiled for.

template <class Element>
struct Vec {
  using T = Element;
  using Batch = xsimd::batch<T, Arch>;
  using Mask = typename Batch::batch_bool_type;
  using Bits = xsimd::as_unsigned_integer_t<T>;
  static constexpr int64_t kLanes = static_cast<int64_t>(Batch::size);
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr int kTileRows = 8;  // 32 registers
#elif defined(__wasm__)
  static constexpr int kTileRows = 4;
#else
  static constexpr int kTileRows = 6;  // 16 registers
#endif
#if defined(__wasm__)
  static constexpr int kTileSteps = 1;
  static constexpr int64_t kKeyBlock = 64;
#else
  static constexpr int kTileSteps = 4;
  static constexpr int64_t kKeyBlock = 192;  // whole tiles of 8 and of 6
#endif

  struct Neighbour {
    static constexpr Bits get(Bits lane, Bits) { return lane ^ 1; }
  };
  using Swapped = decltype(xsimd::make_batch_constant<Bits, Arch, Neighbour>());

  Batch raw;

  static ATTN_INLINE Vec Set(T x) { return {Batch(x)}; }
  static ATTN_INLINE Vec Load(const T* p) { return {Batch::load_unaligned(p)}; }
  static ATTN_INLINE Vec LoadPart(const T* p, int64_t n, T fill) {
    T all[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) all[i] = i < n ? p[i] : fill;
    return Load(all);
  }
  ATTN_INLINE void Store(T* p) const { raw.store_unaligned(p); }
  ATTN_INLINE void StorePart(T* p, int64_t n) const {
    T all[kLanes];
    Store(all);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
  }

  friend ATTN_INLINE Vec operator+(Vec a, Vec b) { return {a.raw + b.raw}; }
  friend ATTN_INLINE Vec operator-(Vec a, Vec b) { return {a.raw - b.raw}; }
  friend ATTN_INLINE Vec operator*(Vec a, Vec b) { return {a.raw * b.raw}; }
  friend ATTN_INLINE Vec operator/(Vec a, Vec b) { return {a.raw / b.raw}; }
  friend ATTN_INLINE Vec MulAdd(Vec a, Vec b, Vec c) {
#if defined(__wasm_relaxed_simd__)
    // xsimd 13.2 multiplies, then adds, on WebAssembly.
    if constexpr (sizeof(T) == 4) {
      return {Batch(wasm_f32x4_relaxed_madd(a.raw, b.raw, c.raw))};
    } else {
      return {Batch(wasm_f64x2_relaxed_madd(a.raw, b.raw, c.raw))};
    }
#elif defined(__FMA__) || defined(__aarch64__)
    return {xsimd::fma(a.raw, b.raw, c.raw)};
#else
    return {a.raw * b.raw + c.raw};
#endif
  }
  friend ATTN_INLINE Vec Max(Vec a, Vec b) { return {xsimd::max(a.raw, b.raw)}; }
  friend ATTN_INLINE Mask Less(Vec a, Vec b) { return a.raw < b.raw; }
  friend ATTN_INLINE Mask Equal(Vec a, Vec b) { return a.raw == b.raw; }
  friend ATTN_INLINE Vec Select(Mask m, Vec yes, Vec no) {
    return {xsimd::select(m, yes.raw, no.raw)};
  }
  friend ATTN_INLINE Vec InterleaveLower(Vec a, Vec b) { return {xsimd::zip_lo(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec InterleaveUpper(Vec a, Vec b) { return {xsimd::zip_hi(a.raw, b.raw)}; }
  friend ATTN_INLINE Vec SwapPairs(Vec a) { return {xsimd::swizzle(a.raw, Swapped())}; }
  friend ATTN_INLINE Vec MantissaToExponent(Vec a) {
    constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    return {xsimd::bitwise_cast<T>(xsimd::bitwise_cast<Bits>(a.raw) << kMantissa)};
  }
  friend ATTN_INLINE Vec Exponent(Vec a) {
    // The biased exponent, moved into the mantissa of a number whose last bit counts 1.
    constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
    const Vec ones = Set(sizeof(T) == 4 ? T(0x1p23) : T(0x1p52));
    const auto moved = xsimd::bitwise_cast<Bits>(a.raw) >> kMantissa;
    const Vec biased = {xsimd::bitwise_cast<T>(moved | xsimd::bitwise_cast<Bits>(ones.raw))};
    return biased - (ones + Set(sizeof(T) == 4 ? 127 : 1023));
  }
  friend ATTN_INLINE T ReduceSum(Vec a) { return xsimd::reduce_add(a.raw); }
  friend ATTN_INLINE T ReduceMax(Vec a) { return xsimd::reduce_max(a.raw); }
};
