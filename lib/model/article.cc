// SPDX-License-Identifier: Apache-2.0
#include "attn/article.h"

#include <algorithm>

#include "model/figures.h"

namespace attn {
namespace {

// Absent where no leaf is printed in digits.
std::optional<int32_t> FewestDigits(const std::vector<Leaf>& leaves) {
  const bool all_equal =
      std::all_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.equal; });
  std::optional<int32_t> fewest;
  for (const Leaf& leaf : leaves) {
    const bool has_digits = leaf.published.find_first_of("0123456789") != std::string::npos;
    if (!has_digits || (leaf.equal && !all_equal)) continue;
    fewest = std::min(fewest.value_or(leaf.digits), leaf.digits);
  }
  return fewest;
}

Result<Figure> MakeFigure(const model::FigureRow& row, const model::Experiments& experiments) {
  Figure figure = {.id = row.id,
                   .step = row.step,
                   .what = row.what,
                   .compare = row.compare,
                   .published = row.published,
                   .verdict = row.absent};
  for (std::string& scalar : JsonScalars(row.published)) {
    figure.leaves.push_back({.published = std::move(scalar)});
  }
  if (row.compute == nullptr) return figure;

  model::Values values;
  ATTN_RETURN_IF_ERROR(row.compute(experiments, values));
  if (values.items().size() != figure.leaves.size()) {
    return InvalidArgument(row.id, ": ", static_cast<int64_t>(values.items().size()),
                           " values for ", static_cast<int64_t>(figure.leaves.size()),
                           " published ones");
  }
  figure.note = values.note();
  figure.verdict = Verdict::kAgrees;
  for (size_t i = 0; i < figure.leaves.size(); ++i) {
    Leaf& leaf = figure.leaves[i];
    leaf.number = values.items()[i].number;
    leaf.text = values.items()[i].text;
    JudgeLeaf(values.items()[i].rule.value_or(row.compare), leaf);
    if (!leaf.agrees) figure.verdict = Verdict::kDiffers;
  }
  if (row.compare == Compare::kExact || row.compare == Compare::kRounded) {
    figure.digits = FewestDigits(figure.leaves);
  }
  return figure;
}

}  // namespace

std::span<const double> ArticleQ() {
  static constexpr double kQ[] = {1, 1, 0, 0, 0, 0, 0, 2, 2, 0, 2, 0};
  return kQ;
}

std::span<const double> ArticleK() {
  static constexpr double kK[] = {1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0};
  return kK;
}

std::span<const double> ArticleV() {
  static constexpr double kV[] = {1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 3};
  return kV;
}

Result<std::vector<Figure>> ArticleReport(const Backend& backend) {
  const Result<model::Experiments> experiments = model::RunExperiments(backend);
  if (!experiments.ok()) return experiments.status();
  std::vector<Figure> figures;
  for (const auto rows : {model::ExperimentFigures(), model::CountedFigures()}) {
    for (const model::FigureRow& row : rows) {
      Result<Figure> figure = MakeFigure(row, *experiments);
      if (!figure.ok()) return figure.status();
      figures.push_back(std::move(*figure));
    }
  }
  return figures;
}

}  // namespace attn
