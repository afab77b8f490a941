// SPDX-License-Identifier: Apache-2.0
// Softmax of rows in three passes: maximum, exponentials and their sum, division.

template <class T>
void SoftmaxRows(const SoftmaxRowsTask<T>& task) {
  using V = Vec<T>;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const int64_t whole = task.columns / V::kLanes * V::kLanes;
  const int64_t rest = task.columns - whole;
  for (int64_t r = 0; r < task.rows; ++r) {
    const T* x = task.x + r * task.x_row;
    T* p = task.p + r * task.p_row;

    V maxima = V::Set(-kInf);
    for (int64_t c = 0; c < whole; c += V::kLanes) maxima = Max(maxima, V::Load(x + c));
    if (rest != 0) maxima = Max(maxima, V::LoadPart(x + whole, rest, -kInf));
    const T max = ReduceMax(maxima);
    // A maximum of -inf would make -inf - -inf; 0 leaves the exponentials at 0, and a NaN at NaN.
    const V shift = V::Set(max == -kInf ? T(0) : max);

    V sums = V::Set(0);
    for (int64_t c = 0; c < whole; c += V::kLanes) {
      const V e = Exp(V::Load(x + c) - shift);
      e.Store(p + c);
      sums = sums + e;
    }
    if (rest != 0) {
      const V e = Exp(V::LoadPart(x + whole, rest, -kInf) - shift);
      e.StorePart(p + whole, rest);
      sums = sums + e;
    }
    const T sum = ReduceSum(sums);

    const V scale = V::Set(sum == 0 ? T(0) : 1 / sum);
    for (int64_t c = 0; c < whole; c += V::kLanes) (V::Load(p + c) * scale).Store(p + c);
    if (rest != 0) (V::LoadPart(p + whole, rest, 0) * scale).StorePart(p + whole, rest);
    if (task.lse != nullptr) task.lse[r * task.lse_row] = ReduceMax(V::Set(max) + Log(V::Set(sum)));
  }
}
