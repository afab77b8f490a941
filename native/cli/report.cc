// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"

namespace attn::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson Computed(const Leaf& leaf) {
  if (!leaf.text.empty()) return leaf.text;
  if (std::isnan(leaf.number)) return "nan";
  if (std::isinf(leaf.number)) return leaf.number > 0 ? "inf" : "-inf";
  // A count reads as a count: 5120, not 5120.0.
  const bool whole = leaf.number == std::floor(leaf.number) && std::fabs(leaf.number) < 0x1p53;
  if (whole) return static_cast<int64_t>(leaf.number);
  return leaf.number;
}

// Puts the computed values in the places of the published scalars.
void Replace(OrderedJson& json, const std::vector<Leaf>& leaves, size_t& next) {
  if (!json.is_structured()) {
    json = Computed(leaves[next++]);
    return;
  }
  for (OrderedJson& item : json) Replace(item, leaves, next);
}

}  // namespace

int64_t Count(std::span<const Figure> figures, Verdict verdict) {
  return std::count_if(figures.begin(), figures.end(),
                       [&](const Figure& figure) { return figure.verdict == verdict; });
}

std::string ReportJson(std::span<const Figure> figures) {
  OrderedJson json = {{"figures", OrderedJson::array()},
                      {"agrees", Count(figures, Verdict::kAgrees)},
                      {"differs", Count(figures, Verdict::kDiffers)}};
  for (const Figure& figure : figures) {
    const OrderedJson published = OrderedJson::parse(figure.published);
    OrderedJson computed;
    if (figure.computed()) {
      computed = published;
      size_t next = 0;
      Replace(computed, figure.leaves, next);
    }
    OrderedJson digits;
    if (figure.digits) digits = *figure.digits;
    json["figures"].push_back({{"id", figure.id},
                               {"step", figure.step},
                               {"what", figure.what},
                               {"published", published},
                               {"computed", computed},
                               {"verdict", Name(figure.verdict)},
                               {"digits", digits}});
  }
  return json.dump(2) + "\n";
}

int RunReport(const ReportOptions& options) {
  const Result<const Backend*> backend = NamedBackend(options.backend);
  if (!backend.ok()) return Complain(backend.status().message());
  const Result<std::vector<Figure>> figures = ArticleReport(**backend);
  if (!figures.ok()) return Complain(figures.status().message());
  const Status written =
      WriteStandardOutput(options.json ? ReportJson(*figures) : ReportTable(*figures));
  if (!written.ok()) return Complain(written.message());
  return Count(*figures, Verdict::kDiffers) == 0 ? 0 : 1;
}

}  // namespace attn::cli
