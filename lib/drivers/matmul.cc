// SPDX-License-Identifier: Apache-2.0
#include "attn/matmul.h"

#include <algorithm>

#include "drivers/attention_task.h"
#include "drivers/parallel.h"

namespace attn {
namespace {

// Rows of an item of work: enough that packing B anew for each costs a hundredth.
constexpr int64_t kMatMulItemRows = 256;

template <class T>
View<T, 4> Transposed(View<T, 4> view) {
  std::swap(view.shape[2], view.shape[3]);
  std::swap(view.strides[2], view.strides[3]);
  return view;
}

template <class T>
Status CheckFactors(const Backend& backend, const View<const T, 4>& a, const View<const T, 4>& b) {
  ATTN_RETURN_IF_ERROR(CheckInput("A", a).status());
  ATTN_RETURN_IF_ERROR(CheckGiven("B", b, {a.shape[0], a.shape[1], a.shape[3], b.shape[3]}));
  if (backend.Supports(Op::kMatmul, DTypeOf<T>())) return {};
  return Unsupported(backend.name, " has no ", Name(Op::kMatmul), " of ", Name(DTypeOf<T>()));
}

}  // namespace

template <class T>
Status Matmul(const Backend& backend, const View<const T, 4>& a, const View<const T, 4>& b,
              const View<T, 4>& c, Into into) {
  ATTN_RETURN_IF_ERROR(CheckFactors(backend, a, b));
  const auto [batch, heads, rows, depth] = a.shape;
  const int64_t columns = b.shape[3];
  ATTN_RETURN_IF_ERROR(CheckResult("C", c, {batch, heads, rows, columns}));
  if (batch * heads == 0 || rows == 0 || columns == 0) return {};
  const KernelTable<T>& table = backend.table<T>();
  const int64_t elements = table.matmul_scratch({.columns = columns});
  const WorkerScratch<T> scratch(backend, elements);
  if (!scratch.ok()) return NoScratch(elements);
  const int64_t step = HasExecutor(backend) ? kMatMulItemRows : rows;
  const int64_t steps = (rows + step - 1) / step;
  const double work = 2.0 * static_cast<double>(batch * heads * rows) *
                      static_cast<double>(columns) * static_cast<double>(depth);
  ForEachItem(backend, batch * heads * steps, work, [&](int64_t item, int64_t worker) {
    const int64_t matrix = item / steps, first = item % steps * step;
    const int64_t i = matrix / heads, h = matrix % heads;
    table.matmul({.a = At(a, i, h) + first * a.strides[2],
                  .a_row = a.strides[2],
                  .a_col = a.strides[3],
                  .b = At(b, i, h),
                  .b_row = b.strides[2],
                  .b_col = b.strides[3],
                  .c = At(c, i, h) + first * c.strides[2],
                  .c_row = c.strides[2],
                  .c_col = c.strides[3],
                  .rows = std::min(step, rows - first),
                  .columns = columns,
                  .depth = depth,
                  .add = into == Into::kAdd,
                  .scratch = scratch.of(worker)});
  });
  return {};
}

template <class T>
Status MatmulBackward(const Backend& backend, const View<const T, 4>& a, const View<const T, 4>& b,
                      const View<const T, 4>& d_c, const View<T, 4>& d_a, const View<T, 4>& d_b) {
  ATTN_RETURN_IF_ERROR(CheckFactors(backend, a, b));
  const Shape<4>& s = a.shape;
  ATTN_RETURN_IF_ERROR(CheckGiven("dC", d_c, {s[0], s[1], s[2], b.shape[3]}));
  ATTN_RETURN_IF_ERROR(CheckResult("dA", d_a, s));
  ATTN_RETURN_IF_ERROR(CheckResult("dB", d_b, b.shape));
  ATTN_RETURN_IF_ERROR(Matmul<T>(backend, d_c, Transposed(b), d_a));
  return Matmul<T>(backend, Transposed(a), d_c, d_b);
}

#define ATTN_INSTANTIATE(T)                                                                        \
  template Status Matmul(const Backend&, const View<const T, 4>&, const View<const T, 4>&,         \
                         const View<T, 4>&, Into);                                                 \
  template Status MatmulBackward(const Backend&, const View<const T, 4>&, const View<const T, 4>&, \
                                 const View<const T, 4>&, const View<T, 4>&, const View<T, 4>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
