// SPDX-License-Identifier: Apache-2.0
// Keys and values of 16 bits: bf16 as vectors of f32, anything as a block of f32 that stays in the
// first-level cache, so memory is read once at half the bytes. The loops become vectors by
// themselves.

// Where element `offset` of k or v lies.
template <class T>
ATTN_INLINE const T* ElementAt(const T* x, int64_t offset, Storage storage) {
  if (storage == Storage::kSame) return x + offset;
  return reinterpret_cast<const T*>(reinterpret_cast<const uint16_t*>(x) + offset);
}

// In WebAssembly decoding has no second form: it adds 8 kB gzipped to a module.
#if defined(__EMSCRIPTEN__)
constexpr bool kWidensInRegisters = false;
#else
constexpr bool kWidensInRegisters = true;
#endif

// As it lies in memory.
struct BF16 {
  uint16_t bits;
};

// n lanes of Bits. A member of a class: g++ 12 takes such a typedef inside a function template for
// no vector.
template <class Bits, int64_t n>
struct BitsOf {
  typedef Bits Type __attribute__((vector_size(n * sizeof(Bits))));
};

template <class V, class S>
ATTN_INLINE V LoadFrom(const S* x) {
  if constexpr (std::is_same_v<S, BF16>) {
    using Wide = BitsOf<uint32_t, V::kLanes>::Type;
    typename BitsOf<uint16_t, V::kLanes>::Type half;
    __builtin_memcpy(&half, x, sizeof(half));
    return __builtin_bit_cast(V, __builtin_convertvector(half, Wide) << 16);
  } else {
    return V::Load(x);
  }
}

// The first n < kLanes elements and zeros.
template <class V, class S>
ATTN_INLINE V LoadPartFrom(const S* x, int64_t n) {
  if constexpr (std::is_same_v<S, BF16>) {
    BF16 all[V::kLanes] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = x[i];
    return LoadFrom<V>(all);
  } else {
    return V::LoadPart(x, n, 0);
  }
}

template <Storage kStorage>
ATTN_INLINE float FloatOf(uint16_t x) {
  return kStorage == Storage::kBF16 ? FloatOfBF16(x) : FloatOfF16(x);
}

template <Storage kStorage>
ATTN_INLINE void WidenRows(const uint16_t* x, int64_t row, int64_t col, int64_t rows,
                           int64_t columns, float* to, int64_t to_row) {
  for (int64_t m = 0; m < rows; ++m) {
    const uint16_t* const from = x + m * row;
    float* const out = to + m * to_row;
    if (col == 1) {
      for (int64_t c = 0; c < columns; ++c) out[c] = FloatOf<kStorage>(from[c]);
    } else {
      for (int64_t c = 0; c < columns; ++c) out[c] = FloatOf<kStorage>(from[c * col]);
    }
  }
}

// to[m][c] = x[m][c].
template <class T>
ATTN_INLINE void CopyBlock(const T* x, Storage storage, int64_t row, int64_t col, int64_t rows,
                           int64_t columns, T* to, int64_t to_row) {
  if constexpr (sizeof(T) == sizeof(float)) {
    const auto* const half = reinterpret_cast<const uint16_t*>(x);
    if (storage == Storage::kBF16) {
      WidenRows<Storage::kBF16>(half, row, col, rows, columns, to, to_row);
      return;
    }
    if (storage == Storage::kF16) {
      WidenRows<Storage::kF16>(half, row, col, rows, columns, to, to_row);
      return;
    }
  }
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t c = 0; c < columns; ++c) to[m * to_row + c] = x[m * row + c * col];
  }
}
