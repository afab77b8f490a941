// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_LIB_MODEL_FIGURES_H_
#define ATTN_LIB_MODEL_FIGURES_H_

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/article.h"
#include "attn/experiment.h"

namespace attn::model {

// Computed scalars of one figure, in the order of its published text.
class Values {
 public:
  struct Item {
    double number = 0;
    std::string text = {};
    std::optional<Compare> rule = {};  // instead of the figure's
  };

  void Add(double number) { items_.push_back({.number = number}); }
  void Add(int64_t count) { Add(static_cast<double>(count)); }
  void Add(std::string text) { items_.push_back({.text = std::move(text)}); }
  void AddExact(double number) { items_.push_back({.number = number, .rule = Compare::kExact}); }
  void AddAll(std::span<const double> numbers) {
    for (double number : numbers) Add(number);
  }
  void Note(std::string text) { note_ = std::move(text); }
  const std::vector<Item>& items() const { return items_; }
  const std::string& note() const { return note_; }

 private:
  std::vector<Item> items_;
  std::string note_;
};

// What several figures share, computed once.
struct Experiments {
  const Backend& backend;
  Lookup<double> causal = {};            // Step 1, -inf above the diagonal
  Lookup<double> zeroed = {};            // the same with 0 instead
  Lookup<double> all_hidden = {};        // no key visible to any token
  std::vector<ScalingRow> scaling = {};  // d = 16, 64, 128, 256: raw, then scaled
  Sensitivity sensitivity = {};          // of token 3's scores
  Sensitivity saturated = {};            // of 8 times those
};
Result<Experiments> RunExperiments(const Backend& backend);

// How one figure is computed; null where `absent` says why there is nothing.
using Compute = Status (*)(const Experiments&, Values&);
struct FigureRow {
  const char* id;
  int32_t step;
  const char* what;
  Compare compare;
  const char* published;
  Compute compute;
  Verdict absent = Verdict::kLater;
};

std::span<const FigureRow> ExperimentFigures();  // steps 1 to 3
std::span<const FigureRow> CountedFigures();     // steps 4 to 8

}  // namespace attn::model

#endif  // ATTN_LIB_MODEL_FIGURES_H_
