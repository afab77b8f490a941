// SPDX-License-Identifier: Apache-2.0
// Random attention problems: sizes, layouts, rules, and NaN and inf in a few places.
#ifndef ATTN_TESTS_ATTENTION_FUZZ_H_
#define ATTN_TESTS_ATTENTION_FUZZ_H_

#include <algorithm>
#include <limits>

#include "attention_rules.h"

namespace attn::testing {

class Draw {
 public:
  explicit Draw(uint64_t seed) : generator_(seed) {}
  Generator& generator() { return generator_; }
  int64_t Below(int64_t n) { return static_cast<int64_t>(generator_.Random() * double(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  // Mostly small, sometimes past a key block.
  int64_t Length() { return OneIn(4) ? Below(400) : OneIn(8) ? 0 : 1 + Below(40); }
  int64_t Width() { return OneIn(5) ? 1 + Below(140) : 1 + Below(24); }
  std::array<size_t, 4> Order() {
    std::array<size_t, 4> order = {0, 1, 2, 3};
    if (OneIn(2)) return order;
    for (size_t i = 3; i > 0; --i) {
      std::swap(order[i], order[static_cast<size_t>(Below(static_cast<int64_t>(i) + 1))]);
    }
    return order;
  }

 private:
  Generator generator_;
};

inline Shape<4> SomeBroadcast(Draw& draw, Shape<4> shape) {
  for (int64_t& extent : shape) extent = draw.OneIn(3) ? 1 : extent;
  return shape;
}

inline size_t Count(const Shape<4>& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return static_cast<size_t>(n);
}

inline Rules DrawRules(Draw& draw, const Shape<4>& scores, AttentionOptions& options) {
  Rules rules;
  if (draw.OneIn(3)) options.window.left = draw.Below(60);
  if (draw.OneIn(3)) options.window.right = draw.Below(60);
  if (draw.OneIn(4)) options.softcap = 0.5 + 8 * draw.generator().Random();
  if (draw.OneIn(3)) {
    rules.keep_shape = SomeBroadcast(draw, scores);
    rules.keep.resize(Count(rules.keep_shape));
    for (uint8_t& keep : rules.keep) keep = draw.OneIn(3) ? 0 : 1;
  }
  if (draw.OneIn(3)) {
    rules.add_shape = SomeBroadcast(draw, scores);
    rules.add.resize(Count(rules.add_shape));
    for (float& add : rules.add) {
      add = draw.OneIn(4) ? -std::numeric_limits<float>::infinity()
                          : static_cast<float>(draw.generator().StandardNormal());
    }
  }
  if (draw.OneIn(3)) {
    for (int64_t h = 0; h < scores[1]; ++h) {
      rules.sinks.push_back(static_cast<float>(2 * draw.generator().StandardNormal()));
    }
  }
  if (draw.OneIn(3)) {
    for (int64_t b = 0; b < scores[0]; ++b) rules.kv_lens.push_back(draw.Below(scores[3] + 1));
  }
  return rules;
}

template <class T>
void Strew(Draw& draw, const Tensor<T, 4>& tensor) {
  const Shape<4>& shape = tensor.view().shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  // Not the lowest finite number: its products overflow in f32 and not in f64.
  const T bad[] = {static_cast<T>(NAN), static_cast<T>(kInf), static_cast<T>(-kInf), T{0}};
  for (int64_t n = 1 + draw.Below(3); n > 0; --n) {
    tensor(draw.Below(shape[0]), draw.Below(shape[1]), draw.Below(shape[2]), draw.Below(shape[3])) =
        bad[draw.Below(4)];
  }
}

inline double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::fmax(largest, std::fabs(x));
  return largest;
}

// Half of the problems are causal by the last key, others by the first or from anywhere; a scale
// gives up to twice the usual spread of scores: the error of a weight is the absolute error of its
// score, so at |score| = 30 no f32 sum keeps 2e-6 (seen: 3.8e-6, the reference in f32 2.9e-6).
inline AttentionOptions DrawOptions(Draw& draw, int64_t keys, int64_t d) {
  AttentionOptions options;
  options.causal.enabled = !draw.OneIn(3);
  if (draw.OneIn(3)) options.causal.align = Align::kTopLeft;
  if (draw.OneIn(3)) options.causal.query_offset = draw.Below(2 * keys + 20) - keys - 10;
  if (draw.OneIn(3)) {
    options.scale = (4 * draw.generator().Random() - 2) / std::sqrt(static_cast<double>(d));
  }
  constexpr AttentionForm kForms[] = {AttentionForm::kAuto, AttentionForm::kFlash,
                                      AttentionForm::kExplicit, AttentionForm::kDecode};
  options.form = kForms[draw.Below(4)];
  options.kv_splits = draw.OneIn(2) ? 0 : 1 + draw.Below(9);
  return options;
}

}  // namespace attn::testing

#endif  // ATTN_TESTS_ATTENTION_FUZZ_H_
