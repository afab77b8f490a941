// SPDX-License-Identifier: Apache-2.0
#include "attn/experiment.h"

#include <new>
#include <string>

#include "abi/abi.h"
#include "abi/result.h"

struct attn_scaling {
  attn::ScalingExperiment experiment;
};

namespace attn::abi {
namespace {

template <class T>
Status Dense(const char* what, const attn_tensor* tensor, int64_t& rows, int64_t& columns,
             std::span<const T>& values) {
  View<const T, 2> view;
  ATTN_RETURN_IF_ERROR(Read(what, tensor, view));
  rows = view.shape[0], columns = view.shape[1];
  if (rows > 0 && columns > 0 &&
      ((columns > 1 && view.strides[1] != 1) || (rows > 1 && view.strides[0] != columns))) {
    return InvalidArgument(what, ": strides ", view.strides[0], ", ", view.strides[1],
                           ", needed is dense: ", columns, ", 1");
  }
  values = {view.data, static_cast<size_t>(rows * columns)};
  return {};
}

Status DenseRow(const char* what, const attn_tensor* tensor, std::span<const double>& values) {
  View<const double, 1> view;
  ATTN_RETURN_IF_ERROR(Read(what, tensor, view));
  if (view.shape[0] > 1 && view.strides[0] != 1) {
    return InvalidArgument(what, ": stride ", view.strides[0], ", needed is dense: 1");
  }
  values = {view.data, static_cast<size_t>(view.shape[0])};
  return {};
}

template <class T>
Status Lookup(const char* backend, const attn_lookup_options* options, const attn_tensor* q,
              const attn_tensor* k, const attn_tensor* v, const uint8_t* hidden,
              attn_result** result) {
  LookupInput<T> in;
  int64_t key_width = 0, values = 0;
  ATTN_RETURN_IF_ERROR(Dense("q", q, in.queries, in.width, in.q));
  ATTN_RETURN_IF_ERROR(Dense("k", k, in.keys, key_width, in.k));
  ATTN_RETURN_IF_ERROR(Dense("v", v, values, in.value_width, in.v));
  if (key_width != in.width) {
    return InvalidArgument("k has width ", key_width, ", q has width ", in.width);
  }
  if (values != in.keys) return InvalidArgument("v has ", values, " rows, k has ", in.keys);
  LookupOptions how;
  if (options != nullptr) {
    ATTN_RETURN_IF_ERROR(CheckStruct("options", options));
    if (options->hidden_score < ATTN_HIDDEN_MINUS_INFINITY ||
        options->hidden_score > ATTN_HIDDEN_MINUS_BILLION) {
      return InvalidArgument("options: hidden_score ", int64_t{options->hidden_score},
                             ", needed is 0..3");
    }
    how.causal = options->causal != 0;
    how.hidden_score = static_cast<HiddenScore>(options->hidden_score);
    if (options->has_scale != 0) how.scale = options->scale;
  }
  if (hidden != nullptr) {
    how.hidden = {hidden, static_cast<size_t>(in.queries) * static_cast<size_t>(in.keys)};
  }
  const auto on = Choose(backend, Op::kSoftmaxRows, DTypeOf<T>());
  if (!on.ok()) return on.status();
  return Deliver(SoftLookup<T>(**on, in, how), result, [](const auto& from, attn_result& to) {
    to.Add("dots", from.dots);
    to.Add("scores", from.scores);
    to.Add("exps", from.exps);
    to.Add("sums", from.sums);
    to.Add("naive", from.naive);
    to.Add("weights", from.weights);
    to.Add("lse", from.lse);
    to.Add("output", from.output);
    to.Add("leak", from.leak);
    to.Add("hard_key", from.hard_key);
    to.Add("hard_output", from.hard_output);
  });
}

Status Measure(const attn_scaling* scaling, const attn_score_rule* rule, attn_result** result) {
  if (scaling == nullptr) return InvalidArgument("scaling is null");
  if (result == nullptr) return InvalidArgument("result is null");
  ATTN_RETURN_IF_ERROR(CheckStruct("rule", rule));
  if (rule->divisor < ATTN_DIVISOR_ONE || rule->divisor > ATTN_DIVISOR_D) {
    return InvalidArgument("rule: divisor ", int64_t{rule->divisor}, ", needed is 0..2");
  }
  const ScoreRule how = {static_cast<ScoreDivisor>(rule->divisor), rule->temperature, rule->softcap,
                         rule->qk_norm != 0};
  return Deliver(scaling->experiment.Measure(how), result, [](const auto& row, attn_result& to) {
    to.Add("d", static_cast<double>(row.d));
    to.Add("spread", row.spread);
    to.Add("top", row.top);
    to.Add("entropy", row.entropy);
    to.Add("effective", row.effective);
    to.Add("saturated", row.saturated);
    to.Add("low", row.low);
    to.Add("high", row.high);
    to.Add("histogram", row.histogram);
  });
}

Status Sensitivity(const char* backend, const attn_tensor* z, double multiplier, double step,
                   attn_result** result) {
  if (result == nullptr) return InvalidArgument("result is null");
  std::span<const double> scores;
  ATTN_RETURN_IF_ERROR(DenseRow("z", z, scores));
  const auto on = Choose(backend, Op::kSoftmaxRows, DType::kF64);
  if (!on.ok()) return on.status();
  return Deliver(SoftmaxSensitivity(**on, scores, multiplier, step), result,
                 [](const auto& from, attn_result& to) {
                   to.Add("p", from.p);
                   to.Add("jacobian", from.jacobian);
                   to.Add("row_sums", from.row_sums);
                   to.Add("nudged", from.nudged);
                   to.Add("largest_difference", from.largest_difference);
                   to.Add("step", from.step);
                 });
}

Status Multiply(const attn_tensor* p, const attn_tensor* g, attn_result** result) {
  if (result == nullptr) return InvalidArgument("result is null");
  std::span<const double> weights, upstream;
  ATTN_RETURN_IF_ERROR(DenseRow("p", p, weights));
  ATTN_RETURN_IF_ERROR(DenseRow("g", g, upstream));
  return Deliver(MultiplyJacobian(weights, upstream), result,
                 [](const auto& from, attn_result& to) {
                   to.Add("dot", from.dot);
                   to.Add("fast", from.fast);
                   to.Add("slow", from.slow);
                   to.Add("fast_operations", static_cast<double>(from.fast_operations));
                   to.Add("slow_operations", static_cast<double>(from.slow_operations));
                 });
}

Status Check(const char* backend, uint64_t seed, int64_t n, int64_t d, attn_result** result) {
  if (result == nullptr) return InvalidArgument("result is null");
  const auto on = Choose(backend, Op::kAttentionBackward, DType::kF64);
  if (!on.ok()) return on.status();
  return Deliver(CheckBackward(**on, seed, n, d), result, [](const auto& from, attn_result& to) {
    to.Add("dq", from.dq);
    to.Add("dk", from.dk);
    to.Add("dv", from.dv);
  });
}

}  // namespace
}  // namespace attn::abi

using attn::InvalidArgument;
using attn::Status;
using attn::abi::Report;

attn_status attn_soft_lookup(const char* backend, const attn_lookup_options* options,
                             const attn_tensor* q, const attn_tensor* k, const attn_tensor* v,
                             const uint8_t* hidden, attn_result** result) {
  if (result == nullptr) return Report(InvalidArgument("result is null"));
  return attn::abi::Dispatch("q", q, [&]<class T>(T) {
    return attn::abi::Lookup<T>(backend, options, q, k, v, hidden, result);
  });
}

attn_status attn_scaling_create(uint64_t seed, int64_t trials, int64_t keys,
                                attn_scaling** scaling) {
  if (scaling == nullptr) return Report(InvalidArgument("scaling is null"));
  auto* made = new (std::nothrow) attn_scaling{attn::ScalingExperiment(seed, trials, keys)};
  if (made == nullptr) return Report(Status(attn::StatusCode::kOutOfMemory, "an experiment"));
  *scaling = made;
  return ATTN_OK;
}

void attn_scaling_free(attn_scaling* scaling) { delete scaling; }

attn_status attn_scaling_begin(attn_scaling* scaling, int64_t d) {
  if (scaling == nullptr) return Report(InvalidArgument("scaling is null"));
  return Report(scaling->experiment.Begin(d));
}

attn_status attn_scaling_advance(attn_scaling* scaling, int64_t queries, int64_t* remaining) {
  if (scaling == nullptr) return Report(InvalidArgument("scaling is null"));
  const int64_t left = scaling->experiment.Advance(queries);
  if (remaining != nullptr) *remaining = left;
  return ATTN_OK;
}

attn_status attn_scaling_measure(const attn_scaling* scaling, const attn_score_rule* rule,
                                 attn_result** result) {
  return Report(attn::abi::Measure(scaling, rule, result));
}

attn_status attn_softmax_sensitivity(const char* backend, const attn_tensor* z, double multiplier,
                                     double step, attn_result** result) {
  return Report(attn::abi::Sensitivity(backend, z, multiplier, step, result));
}

attn_status attn_multiply_jacobian(const attn_tensor* p, const attn_tensor* g,
                                   attn_result** result) {
  return Report(attn::abi::Multiply(p, g, result));
}

attn_status attn_check_backward(const char* backend, uint64_t seed, int64_t n, int64_t d,
                                attn_result** result) {
  return Report(attn::abi::Check(backend, seed, n, d, result));
}
