// SPDX-License-Identifier: Apache-2.0
// The tensors that the rows of one problem share, and what must stand in them.
#ifndef ATTN_BENCH_PROBLEM_H_
#define ATTN_BENCH_PROBLEM_H_

#include <cstdint>
#include <optional>

#include "attn/random.h"
#include "bench/check.h"
#include "bench/pages.h"
#include "bench/plan.h"
#include "bench/neighbours.h"

namespace attn::bench {

// The tensors of one problem, shared by its rows: the same addresses for every version, so
// that none is lucky with its placement. Standard normal values, as the article's experiments.
template <class T>
class Problem {
 public:
  Problem(const Row& row, bool large_pages)
      : pages_(Lines(row.elements()) * kLine + LseBytes(row) + 8 * kLine, large_pages) {
    if (!ok()) return;
    const ForwardShape& s = row.shape;
    const int64_t query_rows = s.batch * s.heads * s.queries;
    const int64_t key_rows = s.batch * s.kv_heads * s.keys;
    Generator generator(0);
    const auto random = [&](int64_t n) {
      T* const data = Take(n);
      for (int64_t i = 0; i < n; ++i) data[i] = RoundTo<T>(generator.StandardNormal());
      return data;
    };
    if (row.neighbour()) {
      // Those have no types of 16 bits (plan.cc leaves such rows out).
      if constexpr (!kIsHalf<T>) MakeNeighbour(row, random);
      return;
    }
    inputs.q = {random(query_rows * s.width), {s.batch, s.heads, s.queries, s.width}};
    inputs.k = {random(key_rows * s.width), {s.batch, s.kv_heads, s.keys, s.width}};
    inputs.v = {random(key_rows * s.value_width), {s.batch, s.kv_heads, s.keys, s.value_width}};
    outputs.o = {Take(query_rows * s.value_width), {s.batch, s.heads, s.queries, s.value_width}};
    outputs.lse = {Take<Compute<T>>(query_rows), {s.batch, s.heads, s.queries}};
    if (!row.backward()) return;
    upstream = {{outputs.o.data, outputs.o.shape},
                {outputs.lse.data, outputs.lse.shape},
                {random(query_rows * s.value_width), outputs.o.shape},
                {}};
    gradients.dq = {Take(query_rows * s.width), inputs.q.shape};
    gradients.dk = {Take(key_rows * s.width), inputs.k.shape};
    gradients.dv = {Take(key_rows * s.value_width), inputs.v.shape};
  }
  bool ok() const { return pages_.ok(); }
  const Status& status() const { return status_; }

  AttentionInputs<T> inputs;
  AttentionOutputs<T> outputs;
  AttentionUpstream<T> upstream;    // of backward, as `gradients`
  AttentionGradients<T> gradients;  // of q, k and v
  NeighbourTensors<T> neighbour;    // of operations beside attention, which have nothing else

 private:
  template <class Random>
  void MakeNeighbour(const Row& row, const Random& random) {
    const ForwardShape& s = row.shape;
    const int64_t heads = s.batch * s.heads;
    neighbour.x = {random(heads * s.queries * s.width), {s.batch, s.heads, s.queries, s.width}};
    if (row.op == Op::kMatmul) {
      neighbour.b = {random(heads * s.width * s.keys), {s.batch, s.heads, s.width, s.keys}};
      neighbour.y = {Take(heads * s.queries * s.keys), {s.batch, s.heads, s.queries, s.keys}};
      return;
    }
    neighbour.y = {Take(heads * s.queries * s.width), neighbour.x.shape};
    if (row.op == Op::kRmsNorm) {
      neighbour.w = {random(s.width), {s.width}};
      return;
    }
    const Shape<2> table = {s.queries, s.width / 2};
    neighbour.cos = {Take(table[0] * table[1]), table};
    neighbour.sin = {Take(table[0] * table[1]), table};
    status_ = FillRotaryTables<T>(10000, neighbour.cos, neighbour.sin);
  }

  static constexpr int64_t kLine = 64;  // bytes: a cache line, an AVX-512 vector

  static int64_t Lines(int64_t n) {
    return (n * static_cast<int64_t>(sizeof(T)) + kLine - 1) / kLine;
  }
  // LSE is wider than elements of 16 bits.
  static int64_t LseBytes(const Row& row) {
    return row.shape.batch * row.shape.heads * row.shape.queries * 4;
  }
  // The next n elements, which begin on a line.
  template <class E = T>
  E* Take(int64_t n) {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(E));
    unsigned char* const data = pages_.data() + taken_;
    taken_ += (n * kBytes + kLine - 1) / kLine * kLine;
    return reinterpret_cast<E*>(data);
  }

  Pages pages_;
  Status status_;
  int64_t taken_ = 0;
};

// What the rows of one problem must have computed.
template <class T>
class Truth {
 public:
  // Backward gets its O and LSE from the default backend.
  Truth(const Problem<T>& problem, const Row& row) : row_(row), problem_(problem) {
    if (row.neighbour()) {
      status_ = problem.status();
      return;
    }
    if (!row.backward()) {
      outputs_.emplace(problem.inputs, row.shape);
      return;
    }
    AttentionOptions options;
    options.causal = row.shape.causal;
    status_ = AttentionForward(DefaultBackend(), problem.inputs, options, problem.outputs);
    if (status_.ok()) gradients_.emplace(problem.inputs, problem.upstream, row.shape);
  }
  const Status& status() const { return status_; }

  void Clear() const {
    if constexpr (!kIsHalf<T>) {
      if (row_.neighbour()) return FillWithNan(problem_.neighbour);
    }
    row_.backward() ? FillWithNan(problem_.gradients) : FillWithNan(problem_.outputs);
  }
  int64_t NonFinite() const {
    if constexpr (!kIsHalf<T>) {
      if (row_.neighbour()) return CountNonFinite(problem_.neighbour);
    }
    return row_.backward() ? CountNonFinite(problem_.gradients)
                           : CountNonFinite(problem_.outputs, row_.shape);
  }
  Errors Compare() const {
    if constexpr (!kIsHalf<T>) {
      if (row_.neighbour()) return CompareNeighbour(row_.op, problem_.neighbour, row_.tolerance());
    }
    return row_.backward() ? gradients_->Compare(problem_.gradients)
                           : outputs_->Compare(problem_.outputs);
  }

 private:
  const Row& row_;
  const Problem<T>& problem_;
  Status status_;
  std::optional<Oracle<T>> outputs_;
  std::optional<GradientOracle<T>> gradients_;
};

}  // namespace attn::bench

#endif  // ATTN_BENCH_PROBLEM_H_
