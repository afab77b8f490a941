// SPDX-License-Identifier: Apache-2.0
// RMS norm, row by row: a pass for the sum of squares, backward one more for the mean of g n, and
// one that writes. A row stays in the first-level cache between them (4096 f32 are 16 KiB), so a
// pass more costs nothing once the rows come from memory.

// Terms are summed in T in four vectors, 32 of them in each lane; these blocks' sums in f64, 32 of
// them, and then those. So no sum is longer than 32 up to a width of 2^18 (f64 on SSE2, where a
// plain sum of blocks was off by 31 epsilon; wider lanes: up to 2^21).
template <class V>
constexpr int64_t kSumStep = 4 * V::kLanes;
template <class V>
constexpr int64_t kSumBlock = 32 * kSumStep<V>;

// n <= kLanes of them, the rest is 0.
template <class V>
ATTN_INLINE V LoadUpTo(const typename V::T* p, int64_t n) {
  return n == V::kLanes ? V::Load(p) : V::LoadPart(p, n, 0);
}

template <class V>
ATTN_INLINE void StoreUpTo(V value, typename V::T* p, int64_t n) {
  if (n == V::kLanes) return value.Store(p);
  value.StorePart(p, n);
}

// The sum of terms.Add(e, n, 0), where Add returns sum + the terms of elements e <= i < e + n.
template <class V, class Terms>
ATTN_INLINE double SumOf(const Terms& terms, int64_t width) {
  double total = 0, part = 0;
  int64_t blocks = 0;
  for (int64_t e = 0; e < width;) {
    const int64_t end = width - e < kSumBlock<V> ? width : e + kSumBlock<V>;
    V sum[4];
    ATTN_UNROLL
    for (int i = 0; i < 4; ++i) sum[i] = V::Set(0);
    for (; end - e >= kSumStep<V>; e += kSumStep<V>) {
      ATTN_UNROLL
      for (int i = 0; i < 4; ++i) sum[i] = terms.Add(e + i * V::kLanes, V::kLanes, sum[i]);
    }
    for (; end - e >= V::kLanes; e += V::kLanes) sum[0] = terms.Add(e, V::kLanes, sum[0]);
    if (e < end) sum[1] = terms.Add(e, end - e, sum[1]);
    e = end;
    part += static_cast<double>(ReduceSum((sum[0] + sum[1]) + (sum[2] + sum[3])));
    if (++blocks % 32 != 0) continue;
    total += part, part = 0;
  }
  return total + part;
}

template <class V>
struct SquaresOf {
  const typename V::T* x;
  V scale;

  ATTN_INLINE V Add(int64_t e, int64_t n, V sum) const {
    const V value = LoadUpTo<V>(x + e, n) * scale;
    return MulAdd(value, value, sum);
  }
};

// x scale inverse is the row divided by its rms.
template <class V>
struct Rms {
  V scale, inverse;
};

// Squares leave T's range long before the row does: f32 beyond 2^64 and below 2^-51, which eps 0
// lets happen. Such a row is summed once more, scaled by a power of two; the others' scale of 1
// costs a multiplication and changes no bit. NaN and inf come out as they would without.
template <class V>
ATTN_INLINE Rms<V> RmsOf(const typename V::T* x, int64_t width, double eps) {
  using T = typename V::T;
  constexpr bool kF32 = sizeof(T) == 4;
  // What underflowing squares lack is below an epsilon of this mean.
  constexpr double kLeast = kF32 ? 0x1p-102 : 0x1p-960;
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kUp = kF32 ? 0x1p90 : 0x1p600;
  const double count = static_cast<double>(width);
  double scale = 1;
  double mean = SumOf<V>(SquaresOf<V>{x, V::Set(1)}, width) / count + eps;
  if (!(mean >= kLeast && mean <= kMost)) {
    scale = mean < kLeast ? kUp : 1 / kUp;
    const double sum = SumOf<V>(SquaresOf<V>{x, V::Set(static_cast<T>(scale))}, width);
    mean = sum / count + eps * scale * scale;
  }
  return {V::Set(static_cast<T>(scale)), V::Set(static_cast<T>(1 / __builtin_sqrt(mean)))};
}

// Asks for the next row's lines, as many as a step has, while this row is written: reading in
// bursts between the writes reached three quarters of the read bandwidth.
template <class V>
ATTN_INLINE void FetchStep(const typename V::T* next) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(typename V::T));
  ATTN_UNROLL
  for (int64_t e = 0; e < kSumStep<V>; e += kLine) __builtin_prefetch(next + e);
}

// y[e] for n <= kLanes elements from e on.
template <class V>
ATTN_INLINE void StoreNorm(const typename V::T* x, const typename V::T* w, const Rms<V>& rms,
                           int64_t n, typename V::T* y) {
  StoreUpTo(LoadUpTo<V>(x, n) * rms.scale * rms.inverse * LoadUpTo<V>(w, n), y, n);
}

template <class T>
void RmsNorm(const RmsNormTask<T>& t) {
  using V = Vec<T>;
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    T* const y = t.y + t.y_row[r];
    const T* const next = t.x + t.x_row[r + 1 < t.rows ? r + 1 : r];
    const Rms<V> rms = RmsOf<V>(x, t.width, t.eps);
    int64_t e = 0;
    for (; t.width - e >= kSumStep<V>; e += kSumStep<V>) {
      FetchStep<V>(next + e);
      ATTN_UNROLL
      for (int64_t i = 0; i < kSumStep<V>; i += V::kLanes) {
        StoreNorm<V>(x + (e + i), t.w + (e + i), rms, V::kLanes, y + (e + i));
      }
    }
    for (; t.width - e >= V::kLanes; e += V::kLanes) {
      StoreNorm<V>(x + e, t.w + e, rms, V::kLanes, y + e);
    }
    if (e < t.width) StoreNorm<V>(x + e, t.w + e, rms, t.width - e, y + e);
  }
}

// One row of backward: n = x / rms, g = d_y w.
template <class V>
struct NormGradient {
  using T = typename V::T;
  const T* x;
  const T* w;
  const T* d_y;
  Rms<V> rms;

  ATTN_INLINE V Row(int64_t e, int64_t n) const {
    return LoadUpTo<V>(x + e, n) * rms.scale * rms.inverse;
  }
  // Of g n. Not of g x, divided by rms at the end: that product can overflow.
  ATTN_INLINE V Add(int64_t e, int64_t n, V sum) const {
    return MulAdd(LoadUpTo<V>(d_y + e, n) * LoadUpTo<V>(w + e, n), Row(e, n), sum);
  }
  // d_x = (g - n mean(g n)) / rms, d_w += d_y n.
  ATTN_INLINE void Store(int64_t e, int64_t n, V minus_mean, T* d_x, T* d_w) const {
    const V row = Row(e, n), up = LoadUpTo<V>(d_y + e, n);
    const V g = up * LoadUpTo<V>(w + e, n);
    StoreUpTo(MulAdd(row, minus_mean, g) * rms.inverse * rms.scale, d_x + e, n);
    StoreUpTo(MulAdd(up, row, LoadUpTo<V>(d_w + e, n)), d_w + e, n);
  }
};

// The weight's gradient is summed in T over this call's rows, of which there are kRowsAtOnce at
// most, and then added in f64: converting every row would take as long as the rest.
template <class T>
void RmsNormBackward(const RmsNormBackwardTask<T>& t) {
  using V = Vec<T>;
  T* const d_w = t.scratch;
  for (int64_t e = 0; e < t.width; ++e) d_w[e] = 0;
  for (int64_t r = 0; r < t.rows; ++r) {
    const T* const x = t.x + t.x_row[r];
    T* const d_x = t.d_x + t.d_x_row[r];
    const NormGradient<V> row = {x, t.w, t.d_y + t.d_y_row[r], RmsOf<V>(x, t.width, t.eps)};
    const double mean = SumOf<V>(row, t.width) / static_cast<double>(t.width);
    const V minus_mean = V::Set(static_cast<T>(-mean));
    const int64_t after = r + 1 < t.rows ? r + 1 : r;
    int64_t e = 0;
    for (; t.width - e >= kSumStep<V>; e += kSumStep<V>) {
      FetchStep<V>(t.x + (t.x_row[after] + e));
      FetchStep<V>(t.d_y + (t.d_y_row[after] + e));
      ATTN_UNROLL
      for (int64_t i = 0; i < kSumStep<V>; i += V::kLanes) {
        row.Store(e + i, V::kLanes, minus_mean, d_x, d_w);
      }
    }
    for (; t.width - e >= V::kLanes; e += V::kLanes) {
      row.Store(e, V::kLanes, minus_mean, d_x, d_w);
    }
    if (e < t.width) row.Store(e, t.width - e, minus_mean, d_x, d_w);
  }
  for (int64_t e = 0; e < t.width; ++e) t.d_w[e] += static_cast<double>(d_w[e]);
}
