// SPDX-License-Identifier: Apache-2.0
// Operations on rows, bound by memory: RMS norm and rotary embeddings of X [B][H][N][D], which a
// ForwardShape of one length and one width gives.
#ifndef ATTN_BENCH_ROWS_H_
#define ATTN_BENCH_ROWS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "attn/backend.h"
#include "attn/norm.h"
#include "attn/rotary.h"
#include "bench/check.h"
#include "bench/shape.h"

namespace attn::bench {

bool IsOnRows(Op op);
// "rms_norm" or "rotary", for --op.
std::string_view RowOpName(Op op);
// 128 MiB of f32: with Y twice as much, which fits no second-level cache.
std::string_view RowOpShape(Op op);
// Why the operation has no such shape, or nothing.
std::string RowOpLacks(Op op, const ForwardShape& shape);

// A channel: 4 for the norm (square and sum, two products), 3 for a turn.
int64_t RowFlops(Op op, const ForwardShape& shape);
// X, Y, and the weight or the tables, each of which moves once. That memory also reads Y's lines
// before it writes them is not counted.
int64_t RowElements(Op op, const ForwardShape& shape);

template <class T>
struct RowTensors {
  View<T, 4> x, y;
  View<T, 1> w;         // of the norm
  View<T, 2> cos, sin;  // of rotary embeddings, whose pairs are halves
};

constexpr double kNormEps = 1e-6;

template <class T>
Status RunRows(const Backend& backend, Op op, const RowTensors<T>& tensors);

template <class T>
void FillWithNan(const RowTensors<T>& tensors);

template <class T>
int64_t CountNonFinite(const RowTensors<T>& tensors);

// Of a row's largest value.
double RowTolerance(DType dtype);

// Some rows once more in f64.
template <class T>
Errors CompareRows(Op op, const RowTensors<T>& tensors);

}  // namespace attn::bench

#endif  // ATTN_BENCH_ROWS_H_
