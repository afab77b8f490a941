// SPDX-License-Identifier: Apache-2.0
// Figures of steps 1 to 3: by the library's softmax and attention, never by a copy of them here.
#include <algorithm>
#include <cmath>

#include "model/figures.h"

namespace attn::model {
namespace {

constexpr int64_t kTokens = 3, kWidth = 4;
constexpr int64_t kSizes[] = {16, 64, 128, 256};
constexpr ScoreRule kRules[] = {{.divisor = ScoreDivisor::kOne}, {.divisor = ScoreDivisor::kSqrtD}};

Result<Lookup<double>> ThreeTokens(const Backend& backend, const LookupOptions& options) {
  return SoftLookup<double>(
      backend, {kTokens, kTokens, kWidth, kWidth, ArticleQ(), ArticleK(), ArticleV()}, options);
}

// Row `token` (from 1, as the article counts) of a row-major matrix.
std::span<const double> Row(const std::vector<double>& matrix, int64_t token, int64_t columns) {
  return std::span(matrix).subspan(static_cast<size_t>((token - 1) * columns),
                                   static_cast<size_t>(columns));
}

const ScalingRow& Scaling(const Experiments& e, int64_t d, ScoreDivisor divisor) {
  return *std::find_if(e.scaling.begin(), e.scaling.end(), [&](const ScalingRow& row) {
    return row.d == d && row.rule.divisor == divisor;
  });
}

Status ScoresOfToken3(const Experiments& e, Values& out) {
  out.AddAll(Row(e.causal.scores, 3, kTokens));
  return {};
}

Status ExpsOfToken3(const Experiments& e, Values& out) {
  out.AddAll(Row(e.causal.exps, 3, kTokens));
  return {};
}

Status ExpSumOfToken3(const Experiments& e, Values& out) {
  out.Add(e.causal.sums[2]);
  return {};
}

Status WeightsOfToken3(const Experiments& e, Values& out) {
  out.AddAll(Row(e.causal.weights, 3, kTokens));
  return {};
}

Status OutputOfToken3(const Experiments& e, Values& out) {
  out.AddAll(Row(e.causal.output, 3, kWidth));
  return {};
}

Status Dots(const Experiments& e, Values& out) {
  out.AddAll(e.causal.dots);
  return {};
}

// Above the diagonal a weight is 0, not merely small.
Status CausalWeights(const Experiments& e, Values& out) {
  for (size_t i = 0; i < kTokens; ++i) {
    for (size_t j = 0; j < kTokens; ++j) {
      const double weight = e.causal.weights[i * kTokens + j];
      j > i ? out.AddExact(weight) : out.Add(weight);
    }
  }
  return {};
}

Status CausalOutput(const Experiments& e, Values& out) {
  out.AddAll(e.causal.output);
  return {};
}

Status ZeroMaskRow(const Experiments& e, Values& out) {
  out.AddAll(Row(e.zeroed.weights, 1, kTokens));
  return {};
}

Status ZeroMaskLeak(const Experiments& e, Values& out) {
  out.Add(100 * e.zeroed.leak[0]);
  return {};
}

Status AllMasked(const Experiments& e, Values& out) {
  out.Add(e.all_hidden.naive[0]);
  if (e.all_hidden.weights[0] == 0 && e.all_hidden.output[0] == 0 &&
      e.all_hidden.lse[0] == -INFINITY) {
    out.Note("this library: weights 0, output 0, LSE -inf");
  }
  return {};
}

Status ScalingTableRows(const Experiments& e, Values& out) {
  for (const ScalingRow& row : e.scaling) {
    out.Add(row.d);
    out.Add(std::string(row.rule.divisor == ScoreDivisor::kOne ? "raw" : "scaled"));
    out.Add(row.spread);
    out.Add(row.top);
    out.Add(row.entropy);
    out.Add(100 * row.saturated);
  }
  return {};
}

Status Sqrt128(const Experiments&, Values& out) {
  out.Add(std::sqrt(128.0));
  return {};
}

Status EffectiveScaled(const Experiments& e, Values& out) {
  out.Add(Scaling(e, 128, ScoreDivisor::kSqrtD).effective);
  return {};
}

Status EffectiveRaw(const Experiments& e, Values& out) {
  out.Add(Scaling(e, 128, ScoreDivisor::kOne).effective);
  return {};
}

Status Probabilities(const Experiments& e, Values& out) {
  out.AddAll(e.sensitivity.p);
  return {};
}

Status Jacobian(const Experiments& e, Values& out) {
  out.AddAll(e.sensitivity.jacobian);
  return {};
}

// Decimals to which the first columns print the same.
Status FiniteDifference(const Experiments& e, Values& out) {
  const Sensitivity& s = e.sensitivity;
  int64_t decimals = 0;
  for (double unit = 10; unit < 1e15; unit *= 10, ++decimals) {
    for (size_t i = 0; i < s.p.size(); ++i) {
      const size_t at = i * s.p.size();
      if (std::round(s.nudged[at] * unit) != std::round(s.jacobian[at] * unit)) {
        out.Add(decimals);
        return {};
      }
    }
  }
  out.Add(decimals);
  return {};
}

// The row whose sum is furthest from 0.
Status RowSums(const Experiments& e, Values& out) {
  const auto& sums = e.sensitivity.row_sums;
  out.Add(*std::max_element(sums.begin(), sums.end(),
                            [](double a, double b) { return std::abs(a) < std::abs(b); }));
  return {};
}

Status BackwardError(const Experiments& e, Values& out) {
  const bool supported = e.backend.Supports(Op::kAttentionBackward, DType::kF64);
  const Result<BackwardCheck> check =
      CheckBackward(supported ? e.backend : ReferenceBackend(), 0, 6, 4);
  if (!check.ok()) return check.status();
  out.Add(std::max({check->dq, check->dk, check->dv}));
  return {};
}

Status SaturatedTop(const Experiments& e, Values& out) {
  out.Add(e.saturated.p[0]);
  return {};
}

Status SaturatedCorner(const Experiments& e, Values& out) {
  out.Add(e.saturated.jacobian[0]);
  return {};
}

Status SaturatedRatio(const Experiments& e, Values& out) {
  out.Add(e.sensitivity.jacobian[0] / e.saturated.jacobian[0]);
  return {};
}

constexpr FigureRow kExperimentFigures[] = {
    {"s1.scores_token3", 1, "token 3: q.k/sqrt(d) against keys 1..3", Compare::kExact, "[2, 0, 1]",
     ScoresOfToken3},
    {"s1.exps", 1, "exponentials of those scores", Compare::kRounded, R"(["7.389", "1", "2.718"])",
     ExpsOfToken3},
    {"s1.exp_sum", 1, "their sum", Compare::kRounded, R"("11.107")", ExpSumOfToken3},
    {"s1.weights_token3", 1, "softmax weights of token 3", Compare::kRounded,
     R"(["0.665", "0.090", "0.245"])", WeightsOfToken3},
    {"s1.output_token3", 1, "output of token 3", Compare::kRounded,
     R"(["0.665", "0.180", "0.665", "0.734"])", OutputOfToken3},
    {"s1.qkT", 1, "rows of QK^T (unscaled)", Compare::kExact, "[[1, 1, 2], [0, 2, 0], [4, 0, 2]]",
     Dots},
    {"s1.P_causal", 1, "causal weights", Compare::kRounded,
     R"([["1", "0", "0"], ["0.269", "0.731", "0"], ["0.665", "0.09", "0.245"]])", CausalWeights},
    {"s1.PV_causal", 1, "causal output", Compare::kRounded,
     R"([["1", "0", "1", "0"], ["0.269", "1.462", "0.269", "0"],)"
     R"( ["0.665", "0.18", "0.665", "0.734"]])",
     CausalOutput},
    {"s1.zero_mask_row1", 1, "token 1 when masked scores are set to 0 (row [0.5,0,0])",
     Compare::kRounded, R"(["0.452", "0.274", "0.274"])", ZeroMaskRow},
    {"s1.zero_mask_leak", 1, "share of token 1 on tokens it must not see, in percent",
     Compare::kRounded, R"("55")", ZeroMaskLeak},
    {"s1.all_masked", 1, "a plain softmax of an all-masked row", Compare::kExact, R"("nan")",
     AllMasked},
    {"s2.table", 2,
     "500 queries x 1024 keys: spread of scores, mean top weight, mean entropy (nats), "
     "% rows with top > 0.99",
     Compare::kRounded,
     R"([{"d": 16, "scores": "raw", "spread": "3.99", "top": "0.420", )"
     R"("entropy": "2.45", "saturated_percent": "1"},)"
     R"( {"d": 16, "scores": "scaled", "spread": "1.00", "top": "0.017", )"
     R"("entropy": "6.43", "saturated_percent": "0"},)"
     R"( {"d": 64, "scores": "raw", "spread": "8.04", "top": "0.702", )"
     R"("entropy": "0.93", "saturated_percent": "9"},)"
     R"( {"d": 64, "scores": "scaled", "spread": "1.00", "top": "0.016", )"
     R"("entropy": "6.43", "saturated_percent": "0"},)"
     R"( {"d": 128, "scores": "raw", "spread": "11.38", "top": "0.817", )"
     R"("entropy": "0.53", "saturated_percent": "23"},)"
     R"( {"d": 128, "scores": "scaled", "spread": "1.01", "top": "0.017", )"
     R"("entropy": "6.43", "saturated_percent": "0"},)"
     R"( {"d": 256, "scores": "raw", "spread": "16.02", "top": "0.861", )"
     R"("entropy": "0.37", "saturated_percent": "39"},)"
     R"( {"d": 256, "scores": "scaled", "spread": "1.00", "top": "0.017", )"
     R"("entropy": "6.43", "saturated_percent": "0"}])",
     ScalingTableRows},
    {"s2.sqrt128", 2, "sqrt(128)", Compare::kRounded, R"("11.3")", Sqrt128},
    {"s2.effective_scaled", 2, "e^entropy of the scaled rows, d = 128", Compare::kAbout, R"("620")",
     EffectiveScaled},
    {"s2.effective_raw_128", 2, "e^entropy of the raw rows at d = 128", Compare::kRounded,
     R"("1.7")", EffectiveRaw},
    {"s3.p", 3, "softmax of [2,0,1]", Compare::kRounded, R"(["0.6652", "0.0900", "0.2447"])",
     Probabilities},
    {"s3.jacobian", 3, "diag(p) - p p^T", Compare::kRounded,
     R"([["0.2227", "-0.0599", "-0.1628"], ["-0.0599", "0.0819", "-0.0220"],)"
     R"( ["-0.1628", "-0.0220", "0.1848"]])",
     Jacobian},
    {"s3.finite_difference", 3,
     "first column by nudging the first score by 1e-6: agrees to decimals", Compare::kAtLeast,
     R"("4")", FiniteDifference},
    {"s3.row_sums", 3, "each row of J adds up to", Compare::kTiny, R"("0")", RowSums},
    {"s3.backward_error", 3,
     "max |dQ|,|dK|,|dV| error against an independent gradient, n=6, d=4, float64", Compare::kOrder,
     R"("2.2e-16")", BackwardError},
    {"s3.saturated_top", 3, "top weight of softmax(8 x [2,0,1])", Compare::kRounded, R"("0.99966")",
     SaturatedTop},
    {"s3.saturated_J00", 3, "top-left of its Jacobian", Compare::kRounded, R"("0.000335")",
     SaturatedCorner},
    {"s3.saturated_ratio", 3, "how many times smaller than 0.2227", Compare::kRounded, R"("664")",
     SaturatedRatio},
};

template <class T>
Status Assign(Result<T> result, T& place) {
  if (result.ok()) place = std::move(*result);
  return result.status();
}

}  // namespace

Result<Experiments> RunExperiments(const Backend& backend) {
  Experiments e = {.backend = backend};
  LookupOptions options = {.causal = true};
  ATTN_RETURN_IF_ERROR(Assign(ThreeTokens(backend, options), e.causal));
  options.hidden_score = HiddenScore::kZero;
  ATTN_RETURN_IF_ERROR(Assign(ThreeTokens(backend, options), e.zeroed));
  constexpr uint8_t kAll[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  ATTN_RETURN_IF_ERROR(Assign(ThreeTokens(backend, {.hidden = kAll}), e.all_hidden));
  ATTN_RETURN_IF_ERROR(Assign(ScalingTable(kSizes, kRules, 0, 500, 1024), e.scaling));
  const std::span<const double> scores = Row(e.causal.scores, 3, kTokens);
  ATTN_RETURN_IF_ERROR(Assign(SoftmaxSensitivity(backend, scores, 1, 1e-6), e.sensitivity));
  ATTN_RETURN_IF_ERROR(Assign(SoftmaxSensitivity(backend, scores, 8, 1e-6), e.saturated));
  return e;
}

std::span<const FigureRow> ExperimentFigures() { return kExperimentFigures; }

}  // namespace attn::model
