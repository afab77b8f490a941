// SPDX-License-Identifier: Apache-2.0
// Vec<T> in plain C++: the lowering of the backend "portable", whose results have the same bits on
// every machine, natively and in WebAssembly.
//
// Nothing here is left to an instruction set: 16 lanes (f64: 8) whatever the registers, sums over
// lanes in one order, a product and a sum rounded apart (the unit is compiled with
// -ffp-contract=off), and the kernels' own exp, log and tanh above it. IEEE 754 fixes the bits of
// everything that remains but one: which NaN results, and with which sign. The vector extension of
// Clang and g++ maps the lanes to whatever registers there are; loops over an array of 16 took 1.6
// to 4 times as long.

template <int kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<4> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = uint64_t;
};

template <class Element>
struct Vec {
  using T = Element;
  static constexpr int64_t kLanes = sizeof(T) == 4 ? 16 : 8;
  static constexpr int kTileRows = 1;  // two vectors are 8 registers of SSE2 or WebAssembly
  static constexpr int kTileSteps = 1;
  static constexpr int64_t kKeyBlock = 64;

  typedef T Raw __attribute__((vector_size(kLanes * sizeof(T))));
  using Mask = decltype(Raw{} < Raw{});  // of integers as wide as T: all bits or none
  using Unsigned = UnsignedOf<sizeof(T)>::Type;
  typedef Unsigned Bits __attribute__((vector_size(kLanes * sizeof(T))));
  static constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;

  Raw raw;

  static ATTN_INLINE Vec Set(T x) { return {x - Raw{}}; }
  static ATTN_INLINE Vec Load(const T* p) {
    Vec v;
    __builtin_memcpy(&v.raw, p, sizeof(Raw));
    return v;
  }
  static ATTN_INLINE Vec LoadPart(const T* p, int64_t n, T fill) {
    Vec v = Set(fill);
    for (int64_t i = 0; i < n; ++i) v.raw[i] = p[i];
    return v;
  }
  ATTN_INLINE void Store(T* p) const { __builtin_memcpy(p, &raw, sizeof(Raw)); }
  ATTN_INLINE void StorePart(T* p, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) p[i] = raw[i];
  }

  friend ATTN_INLINE Vec operator+(Vec a, Vec b) { return {a.raw + b.raw}; }
  friend ATTN_INLINE Vec operator-(Vec a, Vec b) { return {a.raw - b.raw}; }
  friend ATTN_INLINE Vec operator*(Vec a, Vec b) { return {a.raw * b.raw}; }
  friend ATTN_INLINE Vec operator/(Vec a, Vec b) { return {a.raw / b.raw}; }
  friend ATTN_INLINE Vec MulAdd(Vec a, Vec b, Vec c) { return {a.raw * b.raw + c.raw}; }
  friend ATTN_INLINE Vec Max(Vec a, Vec b) { return {a.raw < b.raw ? b.raw : a.raw}; }
  friend ATTN_INLINE Mask Less(Vec a, Vec b) { return a.raw < b.raw; }
  friend ATTN_INLINE Mask Equal(Vec a, Vec b) { return a.raw == b.raw; }
  friend ATTN_INLINE Vec Select(Mask m, Vec yes, Vec no) { return {m ? yes.raw : no.raw}; }
  friend ATTN_INLINE Vec InterleaveLower(Vec a, Vec b) { return Interleave(a, b, 0); }
  friend ATTN_INLINE Vec InterleaveUpper(Vec a, Vec b) { return Interleave(a, b, kLanes / 2); }
  friend ATTN_INLINE Vec SwapPairs(Vec a) {
    Vec swapped;
    ATTN_UNROLL
    for (int64_t i = 0; i < kLanes; ++i) swapped.raw[i] = a.raw[i ^ 1];
    return swapped;
  }
  friend ATTN_INLINE Vec MantissaToExponent(Vec a) {
    return {__builtin_bit_cast(Raw, __builtin_bit_cast(Bits, a.raw) << kMantissa)};
  }
  friend ATTN_INLINE Vec Exponent(Vec a) {
    // The biased exponent, moved into the mantissa of a number whose last bit counts 1.
    const Vec ones = Set(sizeof(T) == 4 ? T(0x1p23) : T(0x1p52));
    const Bits moved = __builtin_bit_cast(Bits, a.raw) >> kMantissa;
    const Vec biased = {__builtin_bit_cast(Raw, moved | __builtin_bit_cast(Bits, ones.raw))};
    return biased - (ones + Set(sizeof(T) == 4 ? 127 : 1023));
  }
  // The upper half joins the lower, until one lane is left.
  friend ATTN_INLINE T ReduceSum(Vec a) {
    ATTN_UNROLL
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      ATTN_UNROLL
      for (int64_t i = 0; i < half; ++i) a.raw[i] += a.raw[i + half];
    }
    return a.raw[0];
  }
  friend ATTN_INLINE T ReduceMax(Vec a) {
    ATTN_UNROLL
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      ATTN_UNROLL
      for (int64_t i = 0; i < half; ++i) {
        a.raw[i] = a.raw[i] < a.raw[i + half] ? a.raw[i + half] : a.raw[i];
      }
    }
    return a.raw[0];
  }

 private:
  static ATTN_INLINE Vec Interleave(Vec a, Vec b, int64_t from) {
    Vec both;
    ATTN_UNROLL
    for (int64_t i = 0; i < kLanes / 2; ++i) {
      both.raw[2 * i] = a.raw[from + i];
      both.raw[2 * i + 1] = b.raw[from + i];
    }
    return both;
  }
};
