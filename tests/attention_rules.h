// SPDX-License-Identifier: Apache-2.0
// Masks, sinks and lengths for an attention problem, in f32 and f64 at once.
#ifndef ATTN_TESTS_ATTENTION_RULES_H_
#define ATTN_TESTS_ATTENTION_RULES_H_

#include <vector>

#include "attention_problem.h"

namespace attn::testing {

// What is empty is absent.
struct Rules {
  Shape<4> keep_shape{}, add_shape{};  // extents of the scores or 1
  std::vector<uint8_t> keep;
  std::vector<float> add, sinks;
  std::vector<int64_t> kv_lens;

  template <class T>
  class For;
};

// Their views for tensors of T.
template <class T>
class Rules::For {
 public:
  explicit For(const Rules& rules)
      : rules_(rules),
        add_(rules.add.begin(), rules.add.end()),
        sinks_(rules.sinks.begin(), rules.sinks.end()) {}

  AttentionInputs<T> operator()(AttentionInputs<T> in) const {
    if (!rules_.keep.empty()) in.mask_keep = {rules_.keep.data(), rules_.keep_shape};
    if (!add_.empty()) in.mask_add = {add_.data(), rules_.add_shape};
    if (!sinks_.empty()) in.sinks = {sinks_.data(), Extent(sinks_.size())};
    if (!rules_.kv_lens.empty()) {
      in.kv_lens = {rules_.kv_lens.data(), Extent(rules_.kv_lens.size())};
    }
    return in;
  }

 private:
  static Shape<1> Extent(size_t n) { return {static_cast<int64_t>(n)}; }

  const Rules& rules_;
  std::vector<Compute<T>> add_, sinks_;
};

// O, then LSE, of an attention forward that must succeed; the problem's outputs keep them.
template <class T>
std::vector<double> Run(const Backend& backend, const Problem<T>& problem, const Rules& rules,
                        const AttentionOptions& options) {
  const T unwritten = static_cast<T>(NAN);
  problem.o.Fill(unwritten), problem.lse.Fill(unwritten);
  const Rules::For<T> with(rules);
  const Status status =
      AttentionForward<T>(backend, with(problem.inputs()), options, {problem.o, problem.lse});
  REQUIRE_MESSAGE(status.ok(), status.message());
  std::vector<double> values = problem.o.Values();
  for (const double lse : problem.lse.Values()) values.push_back(lse);
  return values;
}

}  // namespace attn::testing

#endif  // ATTN_TESTS_ATTENTION_RULES_H_
