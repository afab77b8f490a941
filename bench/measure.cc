// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/environment.h"
#include "bench/problem.h"
#include "bench/timer.h"
#include "kernels/tasks.h"

namespace attn::bench {
namespace {

constexpr int64_t kMinSamples = 3;
// Enough for any percentile here; tiny shapes would otherwise fill the JSON.
constexpr int64_t kMaxSamples = 1000;
// Calls that are not counted: this part of a row's seconds, but not longer than caches and clocks
// need.
constexpr double kWarmUp = 0.1;
constexpr double kLongestWarmUp = 0.3;
constexpr int kSamplesPerTurn = 4;
constexpr double kShortestCall = 1e-7;  // no call of a kernel is shorter

// Of one call on one thread.
template <class E>
int64_t ScratchBytes(const Row& row) {
  using T = Compute<E>;
  if (row.op == Op::kMatmul) {
    return row.backend->table<T>().matmul_scratch({.columns = row.shape.keys}) *
           static_cast<int64_t>(sizeof(T));
  }
  if (row.neighbour()) return 0;  // dense
  AttentionTask<T> task = {};
  task.queries = task.query_end = row.shape.queries, task.keys = row.shape.keys;
  task.d = row.shape.width, task.dv = row.shape.value_width;
  task.q_col = task.k_col = task.v_col = task.o_col = 1;
  task.q_row = task.k_row = task.d;
  task.v_row = task.o_row = task.dv;
  const Band band(row.shape.causal, {}, task.queries, task.keys);
  task.low = band.low, task.high = band.high;
  const KernelTable<T>& table = row.backend->table<T>();
  // A head's tensors and gradients in f32; decoding widens its queries and outputs alone.
  const int64_t rows = row.op == Op::kAttentionDecode
                           ? row.shape.batch * row.shape.heads * task.queries
                           : task.queries + task.keys;
  const int64_t widened = kIsHalf<E> ? 4 * rows * (task.d + task.dv) * (row.backward() ? 2 : 1) : 0;
  if (row.backward()) {
    AttentionBackwardTask<T> backward = {};
    backward.forward = task;
    return table.attention_backward_scratch(backward) * static_cast<int64_t>(sizeof(T)) + widened;
  }
  if (row.op == Op::kAttentionDecode) {
    AttentionDecodeTask<T> decode = {};
    decode.head = task;
    decode.group = row.shape.heads / row.shape.kv_heads;
    decode.row_end = row.shape.queries * decode.group;
    return table.attention_decode_scratch(decode) * static_cast<int64_t>(sizeof(T)) + widened;
  }
  const auto size = row.op == Op::kAttentionForward ? table.attention_flash_scratch
                                                    : table.attention_explicit_scratch;
  return size(task) * static_cast<int64_t>(sizeof(T)) + widened;
}

// One row while it is being measured.
template <class T>
class Version {
 public:
  Version(const Row& row, Problem<T>& problem, const Truth<T>& truth, PeakSampler* sampler)
      : problem_(problem), truth_(truth), sampler_(sampler) {
    result.row = row;
    result.scratch_bytes = ScratchBytes<T>(row);
    options_.causal = row.shape.causal;
    options_.form = row.op == Op::kAttentionExplicit ? AttentionForm::kExplicit
                    : row.op == Op::kAttentionDecode ? AttentionForm::kDecode
                                                     : AttentionForm::kFlash;
  }

  // Checks one call, then runs until caches, clocks and branch predictors have settled, and finds
  // how many calls a sample needs.
  void WarmUp(double seconds) {
    truth_.Clear();
    const double begin = Now();
    double call = Calls(1);
    Check();
    const double enough =
        std::max(std::min(seconds * kWarmUp, kLongestWarmUp), TierUpSeconds(seconds));
    int64_t count = 0;
    // By the clock, not by adding up calls: a browser's clock may say 0 for each of them.
    for (const double warm = Now(); Now() - warm < enough && !failed(); ++count) {
      call = std::min(call, Calls(1));
    }
    if (call <= 0) call = (Now() - begin) / static_cast<double>(count + 1);
    call = std::max(call, kShortestCall);
    calls_ = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(kMinSample / call)));
  }

  // A call that is not timed, then some samples: after another instruction set the core's clock is
  // that set's, and a peak of a millisecond would still see it (AVX-512 after SSE2: 6 % more than
  // its own clock gives, and the kernel's share of it 4 points less).
  void Turn(double seconds, const std::function<bool()>& stop) {
    Calls(1);
    for (int i = 0; i < kSamplesPerTurn && !Done(seconds) && !stop(); ++i) Sample();
  }

  // NaN into the outputs, a peak, the timed calls, a peak: nothing else between.
  void Sample() {
    truth_.Clear();
    const double before = sampler_ == nullptr ? 0 : sampler_->Sample();
    const double cpu_begin = CpuSeconds();
    const double seconds = Calls(calls_);
    // What several threads have used says nothing about what one could have done: wall time then.
    const bool alone = result.row.threads == 1;
    const double cpu = alone ? CpuSeconds() - cpu_begin : seconds;
    const double after = sampler_ == nullptr ? 0 : sampler_->Sample();
    if (failed()) return;
    const int64_t non_finite = truth_.NonFinite();
    if (non_finite > 0) {
      result.failure = Message(non_finite, " values are not finite after a timed call");
      return;
    }
    result.seconds.push_back(seconds / static_cast<double>(calls_));
    result.cpu_seconds.push_back(cpu / static_cast<double>(calls_));
    result.calls += calls_;
    timed_ += seconds;
    if (sampler_ == nullptr) return;
    const double peak = (before + after) / 2 * static_cast<double>(result.row.threads);
    const double flops = static_cast<double>(result.row.flops());
    result.peak.push_back(peak);
    result.peak_fraction.push_back(flops / result.cpu_seconds.back() / peak);
  }

  // The outputs as the last call left them, against f64.
  void Check() {
    if (failed()) return;
    result.errors = truth_.Compare();
    result.failure = result.errors.failure;
  }

  bool failed() const { return !result.failure.empty(); }
  bool Done(double seconds) const {
    const int64_t samples = static_cast<int64_t>(result.seconds.size());
    return failed() || samples >= kMaxSamples || (samples >= kMinSamples && timed_ >= seconds);
  }
  double Left(double seconds) const { return Done(seconds) ? 0 : std::max(0.0, seconds - timed_); }

  RowResult result;

 private:
  Status Call(const Backend& backend) {
    if constexpr (!kIsHalf<T>) {
      if (result.row.neighbour()) return RunNeighbour(backend, result.row.op, problem_.neighbour);
    }
    if (!result.row.backward()) {
      return AttentionForward(backend, problem_.inputs, options_, problem_.outputs);
    }
    return AttentionBackward(backend, problem_.inputs, options_, problem_.upstream,
                             problem_.gradients);
  }
  // Seconds of so many calls.
  double Calls(int64_t count) {
    const double begin = Now();
    for (int64_t i = 0; i < count && !failed(); ++i) {
      const Status status = Call(result.row.runs_on());
      if (!status.ok()) result.failure = status.message();
    }
    return Now() - begin;
  }

  Problem<T>& problem_;
  const Truth<T>& truth_;
  PeakSampler* sampler_;
  AttentionOptions options_;
  int64_t calls_ = 1;
  double timed_ = 0;
};

template <class T>
Result<std::vector<RowResult>> Measure(std::span<const Row> rows, const BenchOptions& options,
                                       Samplers& samplers, const MeasureHooks& hooks) {
  const double seconds = options.seconds;
  Problem<T> problem(rows[0], !options.small_pages);
  if (!problem.ok()) {
    const int64_t bytes = rows[0].elements() * static_cast<int64_t>(sizeof(T));
    return Status(StatusCode::kOutOfMemory, Message("no memory for ", bytes, " bytes of tensors"));
  }
  const Truth<T> truth(problem, rows[0]);
  ATTN_RETURN_IF_ERROR(truth.status());
  std::vector<std::unique_ptr<Version<T>>> versions;
  for (const Row& row : rows) {
    if (hooks.stop()) break;
    hooks.progress(row, seconds * static_cast<double>(rows.size()));
    PeakSampler* sampler = samplers.For(row.isa, DTypeOf<Compute<T>>(), TierUpSeconds(seconds));
    versions.push_back(std::make_unique<Version<T>>(row, problem, truth, sampler));
    versions.back()->WarmUp(seconds);
  }

  for (size_t round = 0; !hooks.stop(); ++round) {
    double left = 0;
    for (const auto& version : versions) left += version->Left(seconds);
    bool all_done = true;
    for (size_t i = 0; i < versions.size() && !hooks.stop(); ++i) {
      Version<T>& version = *versions[(round + i) % versions.size()];
      if (version.Done(seconds)) continue;
      all_done = false;
      hooks.progress(version.result.row, left);
      version.Turn(seconds, hooks.stop);
      // The outputs are shared: check the last sample before another version writes.
      if (version.Done(seconds)) version.Check();
    }
    if (all_done) break;
  }

  std::vector<RowResult> results;
  for (const auto& version : versions) {
    if (version->failed() || !version->result.seconds.empty()) {
      results.push_back(std::move(version->result));
    }
  }
  return results;
}

}  // namespace

PeakSampler* Samplers::For(const Isa* isa, DType dtype, double warm_up) {
  if (isa == nullptr) return nullptr;
  for (PeakSampler& sampler : samplers_) {
    if (&sampler.isa() == isa && sampler.dtype() == dtype) return sampler.ok() ? &sampler : nullptr;
  }
  samplers_.emplace_back(*isa, dtype, warm_up);
  return samplers_.back().ok() ? &samplers_.back() : nullptr;
}

Result<std::vector<RowResult>> MeasureProblem(std::span<const Row> rows,
                                              const BenchOptions& options, Samplers& samplers,
                                              const MeasureHooks& hooks) {
  if (rows.empty()) return std::vector<RowResult>{};
  switch (rows[0].dtype) {
    case DType::kF64:
      return Measure<double>(rows, options, samplers, hooks);
    case DType::kBF16:
      return Measure<BFloat16>(rows, options, samplers, hooks);
    case DType::kF16:
      return Measure<Float16>(rows, options, samplers, hooks);
    case DType::kF32:
      break;
  }
  return Measure<float>(rows, options, samplers, hooks);
}

}  // namespace attn::bench
