// SPDX-License-Identifier: Apache-2.0
#include "attn/norm.h"

#include <algorithm>
#include <cmath>

#include "drivers/attention_task.h"
#include "drivers/parallel.h"
#include "drivers/rows.h"

namespace attn {
namespace {

// So that the weight's gradient, whose parts are added in their order, has few of them.
constexpr int64_t kMostItems = 64;

template <class T>
Status CheckNorm(const Backend& backend, const View<const T, 4>& x, const View<const T, 1>& w,
                 double eps) {
  ATTN_RETURN_IF_ERROR(CheckInput("X", x).status());
  ATTN_RETURN_IF_ERROR(CheckGiven("W", w, {x.shape[3]}));
  if (!std::isfinite(eps) || eps < 0) {
    return InvalidArgument("eps is ",
                           std::isnan(eps) ? "nan"
                           : eps < 0       ? "negative"
                                           : "infinite",
                           ", needed is a finite number from 0");
  }
  if (backend.Supports(Op::kRmsNorm, DTypeOf<T>())) return {};
  return Unsupported(backend.name, " has no ", Name(Op::kRmsNorm), " of ", Name(DTypeOf<T>()));
}

// All rows in logical order, in items of work of whole chunks of kRowsAtOnce. Depends on their
// number alone, as do then the sums over rows.
struct Split {
  explicit Split(const Shape<4>& shape)
      : rows(shape[0] * shape[1] * shape[2]),
        each((rows / kMostItems / kRowsAtOnce + 1) * kRowsAtOnce),
        items((rows + each - 1) / each) {}

  // Calls body(first row, how many) for the chunks of an item.
  template <class Body>
  void ForEachChunk(int64_t item, const Body& body) const {
    const int64_t end = std::min(rows, (item + 1) * each);
    for (int64_t row = item * each; row < end; row += kRowsAtOnce) {
      body(row, std::min(kRowsAtOnce, end - row));
    }
  }
  int64_t most() const { return std::min(rows, kRowsAtOnce); }

  int64_t rows, each, items;
};

template <class T>
Rows<T> RowsOf(const View<T, 4>& view, int64_t row, int64_t count) {
  const auto [n0, n1, n2, width] = view.shape;
  int64_t c = row % n2, b = row / n2 % n1, a = row / n2 / n1;
  Rows<T> rows;
  rows.data = view.data;
  for (int64_t n = 0; n < count; ++n) {
    rows[n] = a * view.strides[0] + b * view.strides[1] + c * view.strides[2];
    if (++c < n2) continue;
    c = 0;
    if (++b < n1) continue;
    b = 0, ++a;
  }
  return rows;
}

// The weight with unit stride.
template <class T>
class NormWeight {
 public:
  explicit NormWeight(const View<const T, 1>& w)
      : copy_(HasDenseRows(w) ? 0 : w.shape[0]), data_(HasDenseRows(w) ? w.data : copy_.data()) {
    if (data_ == w.data || !copy_.ok()) return;
    for (int64_t e = 0; e < w.shape[0]; ++e) copy_.data()[e] = w(e);
  }
  bool ok() const { return copy_.ok(); }
  const T* data() const { return data_; }

 private:
  Scratch<T> copy_;
  const T* data_;
};

}  // namespace

template <class T>
Status RmsNorm(const Backend& backend, const View<const T, 4>& x, const View<const T, 1>& w,
               double eps, const View<T, 4>& y) {
  ATTN_RETURN_IF_ERROR(CheckNorm(backend, x, w, eps));
  ATTN_RETURN_IF_ERROR(CheckResult("Y", y, x.shape));
  const int64_t width = x.shape[3];
  const Split split(x.shape);
  if (split.rows == 0 || width == 0) return {};
  const bool dense = HasDenseRows(x) && HasDenseRows(y);
  const int64_t elements = dense ? 0 : split.most() * width;
  const NormWeight<T> weight(w);
  const WorkerScratch<T> scratch(backend, elements);
  if (!weight.ok() || !scratch.ok()) return NoScratch(elements + width);
  const auto run = backend.table<T>().rms_norm;
  const double work = 4.0 * static_cast<double>(split.rows) * static_cast<double>(width);
  ForEachItem(backend, split.items, work, [&](int64_t item, int64_t worker) {
    const Rows<T> block(scratch.of(worker), width);
    split.ForEachChunk(item, [&](int64_t row, int64_t count) {
      const Rows<const T> from = RowsOf(x, row, count);
      const Rows<T> to = RowsOf(y, row, count);
      if (!dense) CopyRows(from, x.strides[3], count, width, block, 1);
      run({.x = dense ? from.data : block.data,
           .x_row = dense ? from.at.data() : block.at.data(),
           .w = weight.data(),
           .y = dense ? to.data : block.data,
           .y_row = dense ? to.at.data() : block.at.data(),
           .rows = count,
           .width = width,
           .eps = eps});
      if (!dense) CopyRows(block, 1, count, width, to, y.strides[3]);
    });
  });
  return {};
}

template <class T>
Status RmsNormBackward(const Backend& backend, const View<const T, 4>& x, const View<const T, 1>& w,
                       double eps, const View<const T, 4>& d_y, const View<T, 4>& d_x,
                       const View<T, 1>& d_w) {
  ATTN_RETURN_IF_ERROR(CheckNorm(backend, x, w, eps));
  ATTN_RETURN_IF_ERROR(CheckGiven("dY", d_y, x.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dX", d_x, x.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dW", d_w, w.shape));
  const int64_t width = x.shape[3];
  const Split split(x.shape);
  if (width == 0) return {};
  const bool dense = HasDenseRows(x) && HasDenseRows(d_y) && HasDenseRows(d_x);
  const int64_t block = dense ? 0 : split.most() * width;
  const int64_t elements = 2 * block + width;
  const NormWeight<T> weight(w);
  const WorkerScratch<T> scratch(backend, elements);
  const Scratch<double> sums(split.items * width);
  if (!weight.ok() || !scratch.ok() || !sums.ok()) {
    return NoScratch(elements + (split.items + 1) * width);
  }
  const auto run = backend.table<T>().rms_norm_backward;
  const double work = 16.0 * static_cast<double>(split.rows) * static_cast<double>(width);
  ForEachItem(backend, split.items, work, [&](int64_t item, int64_t worker) {
    double* const of_w = sums.data() + item * width;
    std::fill_n(of_w, width, 0.0);
    T* const own = scratch.of(worker);
    const Rows<T> x_block(own + width, width), d_block(own + width + block, width);
    split.ForEachChunk(item, [&](int64_t row, int64_t count) {
      const Rows<const T> from = RowsOf(x, row, count), up = RowsOf(d_y, row, count);
      const Rows<T> to = RowsOf(d_x, row, count);
      if (!dense) {
        CopyRows(from, x.strides[3], count, width, x_block, 1);
        CopyRows(up, d_y.strides[3], count, width, d_block, 1);
      }
      run({.x = dense ? from.data : x_block.data,
           .x_row = dense ? from.at.data() : x_block.at.data(),
           .w = weight.data(),
           .d_y = dense ? up.data : d_block.data,
           .d_y_row = dense ? up.at.data() : d_block.at.data(),
           .d_x = dense ? to.data : d_block.data,
           .d_x_row = dense ? to.at.data() : d_block.at.data(),
           .d_w = of_w,
           .scratch = own,
           .rows = count,
           .width = width,
           .eps = eps});
      if (!dense) CopyRows(d_block, 1, count, width, to, d_x.strides[3]);
    });
  });
  double* const total = sums.data();
  for (int64_t item = 1; item < split.items; ++item) {
    for (int64_t e = 0; e < width; ++e) total[e] += total[item * width + e];
  }
  for (int64_t e = 0; e < width; ++e) d_w(e) = split.items == 0 ? T{0} : static_cast<T>(total[e]);
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                 \
  template Status RmsNorm(const Backend&, const View<const T, 4>&, const View<const T, 1>&, \
                          double, const View<T, 4>&);                                       \
  template Status RmsNormBackward(const Backend&, const View<const T, 4>&,                  \
                                  const View<const T, 1>&, double, const View<const T, 4>&, \
                                  const View<T, 4>&, const View<T, 1>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
