// SPDX-License-Identifier: Apache-2.0
// The sizes of one attention problem, and what it costs at least: counted, not estimated.
#ifndef ATTN_BENCH_SHAPE_H_
#define ATTN_BENCH_SHAPE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "attn/mask.h"
#include "attn/status.h"

namespace attn::bench {

struct ForwardShape {
  int64_t batch = 1, heads = 1, kv_heads = 1;
  int64_t queries = 1, keys = 1;
  int64_t width = 1, value_width = 1;
  CausalMask causal;  // the last query sees the last key, as in decoding
};

// "BxHxNxD[c]" or "BxHqxHkxNxD[c]"; N is "n" or "queries:keys", D is "d" or "width:value width".
Result<ForwardShape> ParseShape(std::string_view text);

// The shortest text that parses to this shape.
std::string Text(const ForwardShape& shape);

// (query, key) pairs of one head that the mask lets through.
int64_t VisiblePairs(const ForwardShape& shape);

// Per visible pair 2 * D for its score and 2 * Dv for its share of the output: a multiply and an
// add a product. Backward: 2 * D each for the score, dQ and dK, 2 * Dv each for dP and dV.
// Exponentials, maxima and divisions are not counted, hidden pairs neither.
int64_t Flops(const ForwardShape& shape, bool backward = false);

// What must move whatever the algorithm: Q, the keys and values that any query sees, each once, and
// O and LSE; backward also dO, dQ, dK and dV.
int64_t CompulsoryBytes(const ForwardShape& shape, int64_t element_bytes, bool backward = false);

// Elements of the five tensors, or of backward's nine, hidden keys included.
int64_t TensorElements(const ForwardShape& shape, bool backward = false);

}  // namespace attn::bench

#endif  // ATTN_BENCH_SHAPE_H_
