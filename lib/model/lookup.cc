// SPDX-License-Identifier: Apache-2.0
// Step 1 of the article.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attn/attention.h"
#include "attn/experiment.h"
#include "attn/softmax.h"

namespace attn {
namespace {

Status CheckSize(const char* what, size_t size, int64_t rows, int64_t columns) {
  if (static_cast<int64_t>(size) == rows * columns) return {};
  return InvalidArgument(what, ": ", static_cast<int64_t>(size), " elements, the shape is ", rows,
                         " x ", columns);
}

template <class T>
Status Check(const LookupInput<T>& in, const LookupOptions& options) {
  constexpr int64_t kLimit = int64_t{1} << 20;  // an experiment to look at, not a workload
  const std::pair<const char*, int64_t> extents[] = {{"queries", in.queries},
                                                     {"keys", in.keys},
                                                     {"width", in.width},
                                                     {"value_width", in.value_width}};
  for (const auto& [name, extent] : extents) {
    const bool inner = name[0] == 'w' || name[0] == 'v';
    if (extent < (inner ? 1 : 0) || extent > kLimit) {
      return InvalidArgument(name, ": ", extent, " is not in ", inner ? 1 : 0, "..", kLimit);
    }
  }
  // Eleven tables of this size fit a page's memory; above, size_t itself would wrap on 32 bits.
  constexpr int64_t kCells = int64_t{1} << 22;
  if (in.queries * std::max(in.keys, in.value_width) > kCells) {
    return InvalidArgument("queries ", in.queries, ", keys ", in.keys, ", value_width ",
                           in.value_width, ": queries times one of the others is above ", kCells);
  }
  ATTN_RETURN_IF_ERROR(CheckSize("q", in.q.size(), in.queries, in.width));
  ATTN_RETURN_IF_ERROR(CheckSize("k", in.k.size(), in.keys, in.width));
  ATTN_RETURN_IF_ERROR(CheckSize("v", in.v.size(), in.keys, in.value_width));
  if (!options.hidden.empty()) {
    ATTN_RETURN_IF_ERROR(CheckSize("hidden", options.hidden.size(), in.queries, in.keys));
  }
  const auto kind = static_cast<int32_t>(options.hidden_score);
  if (kind < 0 || kind > 3)
    return InvalidArgument("hidden_score: ", int64_t{kind}, " is not in 0..3");
  return {};
}

template <class T>
T Hide(T score, HiddenScore kind) {
  switch (kind) {
    case HiddenScore::kZero:
      return 0;
    case HiddenScore::kLowestFinite:
      return score + std::numeric_limits<T>::lowest();
    case HiddenScore::kMinusBillion:
      return static_cast<T>(-1e9);
    case HiddenScore::kMinusInfinity:
      break;
  }
  return -std::numeric_limits<T>::infinity();
}

// [rows][columns] as one batch, one head.
template <class T>
View<T, 4> Matrix(T* data, int64_t rows, int64_t columns) {
  return {data, {1, 1, rows, columns}};
}

// The visible key with the highest score, -1 when there is none or when one of them is NaN.
template <class T>
int64_t HardKey(const T* scores, const uint8_t* hidden, int64_t keys) {
  int64_t best = -1;
  for (int64_t j = 0; j < keys; ++j) {
    if (hidden[j]) continue;
    if (std::isnan(scores[j])) return -1;
    if (best < 0 || scores[j] > scores[best]) best = j;
  }
  return best;
}

template <class T>
void FillOnPaper(int64_t keys, const T* scores, T* exps, T* sum, T* naive) {
  *sum = 0;
  for (int64_t j = 0; j < keys; ++j) *sum += exps[j] = std::exp(scores[j]);
  for (int64_t j = 0; j < keys; ++j) naive[j] = exps[j] / *sum;
}

}  // namespace

template <class T>
Result<Lookup<T>> SoftLookup(const Backend& backend, const LookupInput<T>& in,
                             const LookupOptions& options) {
  ATTN_RETURN_IF_ERROR(Check(in, options));
  const int64_t rows = in.queries, keys = in.keys;
  const auto grid = static_cast<size_t>(rows * keys);
  const auto answers = static_cast<size_t>(rows * in.value_width);
  Lookup<T> out;
  for (auto* matrix : {&out.dots, &out.scores, &out.exps, &out.naive, &out.weights})
    matrix->resize(grid);
  for (auto* column : {&out.sums, &out.lse, &out.leak}) column->resize(static_cast<size_t>(rows));
  out.output.resize(answers);
  out.hard_output.resize(answers);
  out.hard_key.resize(static_cast<size_t>(rows));

  const View<const T, 4> q = Matrix(in.q.data(), rows, in.width);
  const View<const T, 4> k = Matrix(in.k.data(), keys, in.width);
  const View<const T, 4> v = Matrix(in.v.data(), keys, in.value_width);
  AttentionOptions scaled;
  scaled.scale = options.scale;
  AttentionOptions unscaled;
  unscaled.scale = 1;
  if (grid > 0) {
    ATTN_RETURN_IF_ERROR(
        AttentionWeights<T>(q, k, unscaled, Matrix(out.dots.data(), rows, keys), {}));
    ATTN_RETURN_IF_ERROR(
        AttentionWeights<T>(q, k, scaled, Matrix(out.scores.data(), rows, keys), {}));
  }

  std::vector<uint8_t> hidden(grid);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const auto at = static_cast<size_t>(i * keys + j);
      hidden[at] =
          (options.causal && j > i) || (!options.hidden.empty() && options.hidden[at] != 0);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i * keys);
    const int64_t best = HardKey(out.scores.data() + row, hidden.data() + row, keys);
    out.hard_key[static_cast<size_t>(i)] = best;
    for (int64_t c = 0; best >= 0 && c < in.value_width; ++c)
      out.hard_output[static_cast<size_t>(i * in.value_width + c)] = v(0, 0, best, c);
  }
  for (size_t at = 0; at < grid; ++at) {
    if (hidden[at]) out.scores[at] = Hide(out.scores[at], options.hidden_score);
  }

  ATTN_RETURN_IF_ERROR(SoftmaxRows<T>(backend, View<const T, 2>(out.scores.data(), {rows, keys}),
                                      View<T, 2>(out.weights.data(), {rows, keys}),
                                      View<T, 1>(out.lse.data(), {rows})));
  for (int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<size_t>(i * keys);
    FillOnPaper(keys, out.scores.data() + row, out.exps.data() + row,
                &out.sums[static_cast<size_t>(i)], out.naive.data() + row);
    for (int64_t j = 0; j < keys; ++j) {
      if (hidden[row + static_cast<size_t>(j)])
        out.leak[static_cast<size_t>(i)] += out.weights[row + static_cast<size_t>(j)];
    }
  }

  const bool plain = options.hidden.empty() &&
                     (!options.causal || options.hidden_score == HiddenScore::kMinusInfinity);
  if (plain) {
    scaled.causal = {.enabled = options.causal, .align = Align::kTopLeft, .query_offset = {}};
    ATTN_RETURN_IF_ERROR(AttentionForward<T>(
        backend, {q, k, v}, scaled, {Matrix(out.output.data(), rows, in.value_width), {}}));
    return out;
  }
  // Where the hidden are truly hidden, what their values hold stays out.
  const bool skip = options.hidden_score == HiddenScore::kMinusInfinity;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      const auto at = static_cast<size_t>(i * keys + j);
      if (skip && hidden[at]) continue;
      for (int64_t c = 0; c < in.value_width; ++c) {
        out.output[static_cast<size_t>(i * in.value_width + c)] += out.weights[at] * v(0, 0, j, c);
      }
    }
  }
  return out;
}

template Result<Lookup<float>> SoftLookup(const Backend&, const LookupInput<float>&,
                                          const LookupOptions&);
template Result<Lookup<double>> SoftLookup(const Backend&, const LookupInput<double>&,
                                           const LookupOptions&);

}  // namespace attn
