// SPDX-License-Identifier: Apache-2.0
#include "attn/softmax.h"

#include <cmath>

#include "drivers/scratch.h"
#include "kernels/tasks.h"
#include "reference/kernels.h"

namespace attn {

template <class T>
Status SoftmaxRows(const Backend& backend, const View<const T, 2>& x, const View<T, 2>& p,
                   const View<T, 1>& lse) {
  const auto [rows, columns] = x.shape;
  if (auto n = CheckInput("x", x); !n.ok()) return n.status();
  if (p.shape != x.shape) {
    return InvalidArgument("p is ", p.shape[0], " x ", p.shape[1], ", x is ", rows, " x ", columns);
  }
  ATTN_RETURN_IF_ERROR(CheckOptional("lse", lse));
  if (lse.present() && lse.shape[0] != rows) {
    return InvalidArgument("lse has ", lse.shape[0], " entries, x has ", rows, " rows");
  }
  ATTN_RETURN_IF_ERROR(CheckOutput("p", p));
  if (lse.present()) ATTN_RETURN_IF_ERROR(CheckOutput("lse", lse));
  if (!backend.Supports(Op::kSoftmaxRows, DTypeOf<T>())) {
    return Unsupported(backend.name, " has no softmax of ", Name(DTypeOf<T>()));
  }
  // The kernels want unit column stride; other layouts pass through a dense row.
  const auto run = backend.table<T>().softmax_rows;
  SoftmaxRowsTask<T> task = {x.data,   x.strides[0],   p.data, p.strides[0],
                             lse.data, lse.strides[0], rows,   columns};
  if (columns <= 1 || (x.strides[1] == 1 && p.strides[1] == 1)) {
    run(task);
    return {};
  }
  Scratch<T> row(columns);
  if (!row.ok()) return Status(StatusCode::kOutOfMemory, Message("a row of ", columns, " scores"));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) row.data()[c] = x(r, c);
    task = {row.data(), columns, row.data(), columns, lse.present() ? &lse(r) : nullptr,
            1,          1,       columns};
    run(task);
    for (int64_t c = 0; c < columns; ++c) p(r, c) = row.data()[c];
  }
  return {};
}

template <class T>
Status SoftmaxJacobian(const View<const T, 1>& p, const View<T, 2>& jacobian) {
  const int64_t n = p.shape[0];
  if (auto given = CheckInput("p", p); !given.ok()) return given.status();
  if (jacobian.shape != Shape<2>{n, n}) {
    return InvalidArgument("jacobian is ", jacobian.shape[0], " x ", jacobian.shape[1], ", p has ",
                           n, " entries");
  }
  ATTN_RETURN_IF_ERROR(CheckOutput("jacobian", jacobian));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) jacobian(i, j) = p(i) * ((i == j ? T{1} : T{0}) - p(j));
  }
  return {};
}

template <class T>
Status SoftmaxJacobianProduct(const View<const T, 1>& p, const View<const T, 1>& g,
                              const View<T, 1>& out) {
  const int64_t n = p.shape[0];
  if (auto given = CheckInput("p", p); !given.ok()) return given.status();
  if (auto given = CheckInput("g", g); !given.ok()) return given.status();
  if (g.shape[0] != n) return InvalidArgument("g has ", g.shape[0], " entries, p has ", n);
  if (out.shape[0] != n) return InvalidArgument("out has ", out.shape[0], " entries, p has ", n);
  ATTN_RETURN_IF_ERROR(CheckOutput("out", out));
  T dot = 0;
  for (int64_t i = 0; i < n; ++i) dot += p(i) * g(i);
  for (int64_t i = 0; i < n; ++i) out(i) = p(i) * (g(i) - dot);
  return {};
}

template <class T>
Status SoftmaxFiniteDifference(const View<const T, 1>& z, int64_t j, T step,
                               const View<T, 1>& out) {
  const int64_t n = z.shape[0];
  if (auto given = CheckInput("z", z); !given.ok()) return given.status();
  if (out.shape[0] != n) return InvalidArgument("out has ", out.shape[0], " entries, z has ", n);
  if (j < 0 || j >= n) return InvalidArgument("j is ", j, ", z has ", n, " entries");
  if (!std::isfinite(step) || step == T{0}) return InvalidArgument("step is 0 or not finite");
  ATTN_RETURN_IF_ERROR(CheckOutput("out", out));
  Scratch<T> both(2 * n);
  if (!both.ok()) return Status(StatusCode::kOutOfMemory, Message("two rows of ", n, " scores"));
  T* p = both.data();
  T* nudged = p + n;
  for (int64_t i = 0; i < n; ++i) p[i] = nudged[i] = z(i);
  nudged[j] += step;
  reference::Softmax(p, n);
  reference::Softmax(nudged, n);
  for (int64_t i = 0; i < n; ++i) out(i) = (nudged[i] - p[i]) / step;
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                \
  template Status SoftmaxRows(const Backend&, const View<const T, 2>&, const View<T, 2>&,  \
                              const View<T, 1>&);                                          \
  template Status SoftmaxJacobian(const View<const T, 1>&, const View<T, 2>&);             \
  template Status SoftmaxJacobianProduct(const View<const T, 1>&, const View<const T, 1>&, \
                                         const View<T, 1>&);                               \
  template Status SoftmaxFiniteDifference(const View<const T, 1>&, int64_t, T, const View<T, 1>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
