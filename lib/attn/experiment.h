// SPDX-License-Identifier: Apache-2.0
// The article's experiments as functions that return data: the command line prints them, the page
// draws them, the tests compare them with what the article says.
#ifndef ATTN_EXPERIMENT_H_
#define ATTN_EXPERIMENT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attn/backend.h"
#include "attn/random.h"
#include "attn/status.h"

namespace attn {

// ---- Step 1: a soft lookup ----------------------------------------------------------------------

// Row-major and dense: q [queries][width], k [keys][width], v [keys][value_width].
template <class T>
struct LookupInput {
  int64_t queries = 0, keys = 0, width = 0, value_width = 0;
  std::span<const T> q, k, v;
};

// What becomes of a hidden score before softmax.
enum class HiddenScore : int32_t {
  kMinusInfinity = 0,  // the definition
  kZero = 1,           // a common mistake: e^0 = 1, so the hidden key keeps weight
  kLowestFinite = 2,   // the dtype's lowest number is added, as Hugging Face's masks do
  kMinusBillion = 3,   // replaced by -1e9, as in The Annotated Transformer
};

struct LookupOptions {
  std::optional<double> scale = {};  // absent: 1 / sqrt(width)
  bool causal = false;
  // Hidden places beside the causal ones: empty, or [queries][keys] with non-zero = hidden.
  std::span<const uint8_t> hidden = {};
  HiddenScore hidden_score = HiddenScore::kMinusInfinity;
};

// Everything between Q, K, V and the answer. Row-major; [queries][keys] unless said otherwise.
template <class T>
struct Lookup {
  std::vector<T> dots;     // q . k
  std::vector<T> scores;   // scaled, with the hidden ones replaced
  std::vector<T> exps;     // e^score, as on paper: without subtracting the maximum
  std::vector<T> sums;     // [queries], of exps
  std::vector<T> naive;    // exps / sums: NaN where every score is -inf, or where e^score overflows
  std::vector<T> weights;  // softmax as this library defines it: such a row has weights 0
  std::vector<T> lse;      // [queries]: ln of the sum, -inf for a row that sees nothing
  std::vector<T> output;   // [queries][value_width]: weights x V
  // Share of each query on places that were to be hidden. [queries]
  std::vector<T> leak;
  // The hard lookup: the visible key with the highest score (the first of equals; -1: none is
  // visible or a score is NaN) and its value (zeros for none). [queries], [queries][value_width]
  std::vector<int64_t> hard_key;
  std::vector<T> hard_output;
};

// Vaswani et al. 2017, equation (1). Scores and weights come from AttentionWeights and from
// `backend`'s SoftmaxRows; so does the output, from its AttentionForward, where nothing but the
// causal mask hides. Causal aligns the first query with the first key, as the article does.
// Errors name the argument: a span whose size does not fit, a width below 1, a value below 0, more
// than 2^22 cells in one of the tables.
template <class T>
Result<Lookup<T>> SoftLookup(const Backend& backend, const LookupInput<T>& input,
                             const LookupOptions& options);

// ---- Step 2: why divide by sqrt(d) --------------------------------------------------------------

enum class ScoreDivisor : int32_t { kOne = 0, kSqrtD = 1, kD = 2 };

// s = (q . k) / divisor / temperature, then cap * tanh(s / cap). With qk_norm, q and k are first
// divided by their root mean square over d (QK-norm with a learned weight of 1).
struct ScoreRule {
  ScoreDivisor divisor = ScoreDivisor::kSqrtD;
  double temperature = 1;  // > 0
  double softcap = 0;      // 0: none
  bool qk_norm = false;
};

inline constexpr int64_t kHistogramBins = 64;

// Over all queries of one d. Entropy in nats.
struct ScalingRow {
  int64_t d = 0;
  ScoreRule rule;
  double spread = 0;     // population standard deviation of all scores
  double top = 0;        // mean over queries of the largest weight
  double entropy = 0;    // mean over queries of -sum p ln p
  double effective = 0;  // e^entropy: how many keys the weight is spread over
  double saturated = 0;  // share of queries whose largest weight is above 0.99, 0..1
  // Scores in kHistogramBins equal bins from low to high (the extreme scores; the last bin is
  // closed). All in the first bin when low == high.
  double low = 0, high = 0;
  std::vector<int64_t> histogram;
};

// The article's experiment: `trials` random queries against `keys` random keys, entries of mean 0
// and variance 1 from `default_rng(seed)`: for each d, q [trials][d], then K [keys][d]; one
// generator for all d, so the order of the Begin calls matters. f64 throughout.
//
// In pieces, so that a worker can report progress and stop between them:
//   experiment.Begin(128);  while (experiment.Advance(50)) Progress();  experiment.Measure(rule);
class ScalingExperiment {
 public:
  ScalingExperiment(uint64_t seed, int64_t trials, int64_t keys);

  // Draws q and K. Errors: d, trials or keys not in 1..2^16, or a product of two above 2^24.
  Status Begin(int64_t d);

  // Scores of up to `queries` more queries. Returns how many queries remain.
  int64_t Advance(int64_t queries);

  // Statistics under one rule; any number of rules for the same scores. Errors: queries remain, a
  // rule whose temperature is not above 0, or whose cap is below 0 or NaN.
  Result<ScalingRow> Measure(const ScoreRule& rule) const;

  int64_t done() const { return done_; }
  int64_t trials() const { return trials_; }

 private:
  Generator generator_;
  int64_t trials_, keys_, d_ = 0, done_ = 0;
  std::vector<double> q_;       // [trials][d]
  std::vector<double> k_;       // [d][keys]: keys side by side for the product
  std::vector<double> scores_;  // [trials][keys], q . k
  std::vector<double> q_inverse_rms_, k_inverse_rms_;
};

// The table: every d under every rule, d by d. Rows in that order.
Result<std::vector<ScalingRow>> ScalingTable(std::span<const int64_t> ds,
                                             std::span<const ScoreRule> rules, uint64_t seed,
                                             int64_t trials, int64_t keys);

// ---- Step 3: the Jacobian of softmax ------------------------------------------------------------

// Of p = softmax(multiplier * z). Row-major [n][n] where two-dimensional.
struct Sensitivity {
  std::vector<double> p;          // [n]
  std::vector<double> jacobian;   // diag(p) - p p^T
  std::vector<double> row_sums;   // [n]: 0 up to rounding, the derivative form of shift invariance
  std::vector<double> nudged;     // column j: (softmax(z + step e_j) - softmax(z)) / step
  double largest_difference = 0;  // of nudged and jacobian
  double step = 0;
};

// Errors: z empty or above 4096 long, a step that is 0 or not finite.
Result<Sensitivity> SoftmaxSensitivity(const Backend& backend, std::span<const double> z,
                                       double multiplier, double step);

// J g both ways, with what each costs.
struct JacobianProduct {
  double dot = 0;               // p . g
  std::vector<double> fast;     // p o (g - p . g)
  std::vector<double> slow;     // row i of J times g
  int64_t fast_operations = 0;  // multiplications, additions, subtractions: 4 n - 1
  int64_t slow_operations = 0;  // 2 n^2 - n once J stands
};
// Errors: p empty, g of another length.
Result<JacobianProduct> MultiplyJacobian(std::span<const double> p, std::span<const double> g);

// Largest absolute error of the attention backward pass against complex-step derivatives of the
// forward pass (W. Squire and G. Trapp, SIAM Rev. 40 (1998): Im f(x + ih) / h has no cancellation,
// so h = 1e-100 makes it exact to rounding).
struct BackwardCheck {
  double dq = 0, dk = 0, dv = 0;
};
// Q, K, V, dO each [n][d] from default_rng(seed), in this order; not causal, scale 1 / sqrt(d).
// Errors: n or d not in 1..64 (the check takes 3 n d forward passes).
Result<BackwardCheck> CheckBackward(const Backend& backend, uint64_t seed, int64_t n, int64_t d);

}  // namespace attn

#endif  // ATTN_EXPERIMENT_H_
