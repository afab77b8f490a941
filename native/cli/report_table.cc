// SPDX-License-Identifier: Apache-2.0
// The report for a terminal: a row for each row of a figure, values aligned in columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report.h"

namespace attn::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kWhatWidth = 38;
constexpr const char* kSteps[] = {
    "",
    "Step 1  A soft lookup",
    "Step 2  Why scores are divided by sqrt(d)",
    "Step 3  The Jacobian of softmax",
    "Step 4  What n tokens cost",
    "Step 5  Heads as low-rank pieces",
    "Step 6  Shared and latent keys and values",
    "Step 7  Without the n x n grid",
    "In published models",
};

struct FigureRow {
  std::string label;  // of a row that is an object: what it is measured at
  std::vector<std::string> published, computed;
};
struct FigureBlock {
  std::vector<FigureRow> rows;
  std::vector<std::string> names;  // of the columns, where the rows are objects
};

// "8.796e+12" and "1e-07" as people write them: "8.796e12", "1e-7".
std::string ShortExponent(const std::string& text) {
  const size_t digits = text.find('e') + 2;
  const std::string sign = text[digits - 1] == '-' ? "-" : "";
  const size_t first = std::min(text.find_first_not_of('0', digits), text.size() - 1);
  return text.substr(0, digits - 1) + sign + text.substr(first);
}

// Two digits more than the article prints, so that the rounding can be seen.
std::string ComputedText(const Leaf& leaf) {
  if (!leaf.text.empty()) return leaf.text;
  if (std::isnan(leaf.number)) return "nan";  // fmt prints its sign, which means nothing
  if (std::isinf(leaf.number)) return fmt::format("{}", leaf.number);
  const size_t exponent = leaf.published.find('e');
  const size_t point = leaf.published.find('.');
  const size_t end = std::min(exponent, leaf.published.size());
  const size_t decimals = (point == std::string::npos ? 0 : end - point - 1) + 2;
  if (exponent != std::string::npos) {
    return ShortExponent(fmt::format("{:.{}e}", leaf.number, decimals));
  }
  if (leaf.number == std::floor(leaf.number)) return fmt::format("{:.0f}", leaf.number);
  const bool vanishes = std::fabs(leaf.number) < std::pow(10.0, -static_cast<double>(decimals));
  return vanishes ? ShortExponent(fmt::format("{:.1e}", leaf.number))
                  : fmt::format("{:.{}f}", leaf.number, decimals);
}

FigureRow ReadRow(const OrderedJson& json, const std::vector<Leaf>& leaves, size_t& next,
                  FigureBlock& block) {
  FigureRow row;
  const auto add = [&](const Leaf& leaf) {
    row.published.push_back(leaf.published);
    row.computed.push_back(ComputedText(leaf));
  };
  if (!json.is_structured()) {
    add(leaves[next++]);
    return row;
  }
  const bool first = block.rows.empty();
  for (const auto& item : json.items()) {
    const Leaf& leaf = leaves[next++];
    // In an object, bare numbers and words say where the row stands; figures are digits in quotes.
    if (json.is_object() && (item.value().is_number() || !leaf.text.empty())) {
      row.label += row.label.empty() ? "" : " ";
      row.label += item.value().is_number() ? item.key() + " " + leaf.published : leaf.published;
      continue;
    }
    if (json.is_object() && first)
      block.names.push_back(item.key().substr(0, item.key().find('_')));
    add(leaf);
  }
  return row;
}

FigureBlock ReadBlock(const Figure& figure) {
  const OrderedJson json = OrderedJson::parse(figure.published);
  const bool nested = json.is_structured() && !json.empty() && json.begin()->is_structured();
  FigureBlock block;
  size_t next = 0;
  if (!nested) {
    block.rows.push_back(ReadRow(json, figure.leaves, next, block));
    return block;
  }
  for (const auto& item : json.items()) {
    FigureRow row = ReadRow(item.value(), figure.leaves, next, block);
    if (json.is_object()) row.label = item.key();
    block.rows.push_back(std::move(row));
  }
  return block;
}

// Right-aligned columns, two spaces apart.
std::vector<std::string> Align(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string& line = lines.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", row[i], widths[i]);
    }
  }
  return lines;
}

// At spaces; a longer word stands alone.
std::vector<std::string> Wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

// One line of the table before its columns are aligned.
struct Line {
  std::string what, published, computed, verdict;
};

void AppendFigure(const Figure& figure, std::vector<Line>& lines) {
  const FigureBlock block = ReadBlock(figure);
  std::vector<std::string> labels;
  std::vector<std::vector<std::string>> published, computed;
  if (!block.names.empty()) {
    labels.emplace_back();
    published.push_back(block.names);
    computed.push_back(block.names);
  }
  for (const FigureRow& row : block.rows) {
    labels.push_back(row.label);
    published.push_back(row.published);
    computed.push_back(row.computed);
  }
  const std::vector<std::string> left = Align(published), right = Align(computed);
  const std::vector<std::string> what = Wrap(figure.what, kWhatWidth);
  // Labelled rows need the first column for themselves: the description stands above them.
  const bool labelled =
      std::any_of(labels.begin(), labels.end(), [](const auto& label) { return !label.empty(); });
  const size_t begin = lines.size();
  const size_t values_begin = begin + (labelled ? what.size() : 0);
  lines.resize(std::max(begin + what.size(), values_begin + left.size()));
  for (size_t i = 0; i < what.size(); ++i) lines[begin + i].what = "  " + what[i];
  for (size_t i = 0; i < left.size(); ++i) {
    Line& line = lines[values_begin + i];
    line.published = left[i];
    line.computed = right[i];
    if (!labels[i].empty()) line.what = "    " + labels[i];
  }
  lines[values_begin].verdict = Name(figure.verdict);
  if (!figure.note.empty()) lines.push_back({"", "", figure.note, ""});
}

std::string List(std::span<const Figure> figures, Verdict verdict, const char* title) {
  std::string text;
  for (const Figure& figure : figures) {
    if (figure.verdict != verdict) continue;
    if (text.empty()) text = fmt::format("\n{}\n", title);
    text += fmt::format("  {:<19}  {}\n", figure.id, figure.what);
  }
  return text;
}

}  // namespace

std::string ReportTable(std::span<const Figure> figures) {
  std::vector<Line> lines;
  int32_t step = 0;
  for (const Figure& figure : figures) {
    if (!figure.computed()) continue;
    if (figure.step != step) {
      step = figure.step;
      if (!lines.empty()) lines.emplace_back();
      lines.push_back({kSteps[step], "published", "computed", ""});
    }
    AppendFigure(figure, lines);
  }
  size_t what = 0, published = 0, computed = 0;
  for (const Line& line : lines) {
    what = std::max(what, line.what.size());
    published = std::max(published, line.published.size());
    computed = std::max(computed, line.computed.size());
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row = fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", line.what, what, line.published,
                                  published, line.computed, computed, line.verdict);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  text += List(figures, Verdict::kLater, "Later: this version does not compute these yet");
  text += List(figures, Verdict::kNeedsFile, "Needs a file that is not part of this program");
  return text + fmt::format("\nagrees {}, differs {}, later {}, needs a file {}\n",
                            Count(figures, Verdict::kAgrees), Count(figures, Verdict::kDiffers),
                            Count(figures, Verdict::kLater), Count(figures, Verdict::kNeedsFile));
}

}  // namespace attn::cli
