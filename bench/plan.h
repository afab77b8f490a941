// SPDX-License-Identifier: Apache-2.0
// Which rows a run has, and why others are left out.
#ifndef ATTN_BENCH_PLAN_H_
#define ATTN_BENCH_PLAN_H_

#include <span>
#include <string>
#include <vector>

#include "attn/attention.h"
#include "attn/backend.h"
#include "attn/status.h"
#include "bench/bench.h"
#include "bench/peak.h"
#include "bench/neighbours.h"
#include "bench/shape.h"

namespace attn::bench {

struct Row {
  const Backend* backend;
  const Isa* isa;  // null: no peak is known for this backend
  ForwardShape shape;
  DType dtype;
  Op op;  // forward in one of its forms, backward, or an operation beside them
  int64_t threads = 1;
  const Backend* on_threads = nullptr;  // `backend` on them, where they are several

  const Backend& runs_on() const { return on_threads == nullptr ? *backend : *on_threads; }

  bool backward() const { return op == Op::kAttentionBackward; }
  bool neighbour() const { return IsNeighbour(op); }

  // See shape.h and rows.h.
  int64_t flops() const;
  int64_t bytes() const;     // that must move
  int64_t elements() const;  // of all tensors
  double tolerance() const;  // of its check

  // "attention_forward/1x8x1024x64c/f32/flash/highway:AVX3",
  // "rms_norm/1x1x8192x4096/f32/highway:AVX3"
  std::string Name() const;
  // "attention_forward", ...
  std::string OpName() const;
  // The command that measures this row alone.
  std::string Command(const BenchOptions& options) const;
  // Rows of one problem, which differ in the backend only, are measured in turns.
  bool SameProblem(const Row& other) const;
};

// "flash", "explicit" or "decode".
std::string_view FormName(Op op);

struct SkippedRow {
  std::string name;
  std::string reason;
};

struct Plan {
  std::vector<Row> rows;  // those of one problem stand together
  std::vector<SkippedRow> skipped;
};

// Errors name the option and the value: a shape that does not parse, an unknown backend, op,
// dtype or form, a filter that is no regular expression, seconds that are not a positive number, no
// row left.
Result<Plan> MakePlan(const BenchOptions& options, std::span<const Backend> backends);

}  // namespace attn::bench

#endif  // ATTN_BENCH_PLAN_H_
