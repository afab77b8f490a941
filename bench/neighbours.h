// SPDX-License-Identifier: Apache-2.0
// The operations beside attention, in a ForwardShape of one head count, not causal: RMS norm and
// rotary embeddings of X [B][H][N][D], bound by memory, and the matrix product C [B][H][M][N] =
// A [B][H][M][K] B [B][H][K][N], whose shape is BxHxM:NxK: the queries are M, the keys N, the width
// K, as in scores of queries and keys.
#ifndef ATTN_BENCH_NEIGHBOURS_H_
#define ATTN_BENCH_NEIGHBOURS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "attn/backend.h"
#include "attn/matmul.h"
#include "attn/norm.h"
#include "attn/rotary.h"
#include "bench/check.h"
#include "bench/shape.h"

namespace attn::bench {

bool IsNeighbour(Op op);
// "rms_norm", "rotary" or "matmul", for --op.
std::string_view NeighbourName(Op op);
std::optional<Op> NeighbourOf(std::string_view name);
// On rows 128 MiB of f32: with Y twice as much, which fits no second-level cache. 1024 x 1024 for
// the product.
std::string_view NeighbourShape(Op op);
// Why the operation has no such shape, or nothing.
std::string NeighbourLacks(Op op, const ForwardShape& shape);

// A channel: 4 for the norm (square and sum, two products), 3 for a turn; 2 M N K for the product.
int64_t NeighbourFlops(Op op, const ForwardShape& shape);
// X, Y, and the weight or the tables; A, B and C: each of which moves once. That memory also reads
// Y's lines before it writes them is not counted.
int64_t NeighbourElements(Op op, const ForwardShape& shape);

template <class T>
struct NeighbourTensors {
  View<T, 4> x, y;      // what goes in and what comes out; A and C of the product
  View<T, 4> b;         // of the product
  View<T, 1> w;         // of the norm
  View<T, 2> cos, sin;  // of rotary embeddings, whose pairs are halves
};

constexpr double kNormEps = 1e-6;

template <class T>
Status RunNeighbour(const Backend& backend, Op op, const NeighbourTensors<T>& tensors);

template <class T>
void FillWithNan(const NeighbourTensors<T>& tensors);

template <class T>
int64_t CountNonFinite(const NeighbourTensors<T>& tensors);

// Of a row's largest value. The product's rounding adds up like a random walk over the K terms.
double NeighbourTolerance(Op op, DType dtype, const ForwardShape& shape);

// Some rows once more in f64.
template <class T>
Errors CompareNeighbour(Op op, const NeighbourTensors<T>& tensors, double tolerance);

}  // namespace attn::bench

#endif  // ATTN_BENCH_NEIGHBOURS_H_
