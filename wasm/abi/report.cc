// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <utility>
#include <vector>

#include "abi/abi.h"
#include "abi/result.h"
#include "attn/article.h"

struct attn_report {
  std::vector<attn::Figure> figures;
};

namespace attn::abi {
namespace {

void AddFigure(const Figure& figure, attn_result& to) {
  to.Add("id", std::string(figure.id));
  to.Add("step", figure.step);
  to.Add("what", std::string(figure.what));
  to.Add("compare", std::string(Name(figure.compare)));
  to.Add("published", std::string(figure.published));
  to.Add("verdict", std::string(Name(figure.verdict)));
  to.Add("note", figure.note);
  if (figure.digits) to.Add("digits", *figure.digits);
  // Neither published scalars nor computed words have line breaks.
  std::string published, text;
  std::vector<double> number, agrees, digits;
  for (const Leaf& leaf : figure.leaves) {
    if (!number.empty()) published += '\n', text += '\n';
    published += leaf.published;
    text += leaf.text;
    number.push_back(leaf.number);
    agrees.push_back(leaf.agrees);
    digits.push_back(leaf.digits);
  }
  to.Add("leaf_published", std::move(published));
  to.Add("leaf_text", std::move(text));
  to.Add("leaf_numbers", number);
  to.Add("leaf_agrees", agrees);
  to.Add("leaf_digits", digits);
}

Status Create(const char* backend, attn_report** report) {
  if (report == nullptr) return InvalidArgument("report is null");
  const auto on = Choose(backend, Op::kSoftmaxRows, DType::kF64);
  if (!on.ok()) return on.status();
  Result<std::vector<Figure>> figures = ArticleReport(**on);
  if (!figures.ok()) return figures.status();
  auto* made = new (std::nothrow) attn_report{std::move(*figures)};
  if (made == nullptr) return Status(StatusCode::kOutOfMemory, "a report");
  *report = made;
  return {};
}

Status OneFigure(const attn_report* report, int32_t index, attn_result** result) {
  if (result == nullptr) return InvalidArgument("result is null");
  if (index < 0 || index >= attn_report_count(report)) {
    return InvalidArgument("index ", int64_t{index}, ", the report has ",
                           int64_t{attn_report_count(report)}, " figures");
  }
  const Result<const Figure*> figure = &report->figures[static_cast<size_t>(index)];
  return Deliver(figure, result, [](const Figure* f, attn_result& to) { AddFigure(*f, to); });
}

}  // namespace
}  // namespace attn::abi

attn_status attn_report_create(const char* backend, attn_report** report) {
  return attn::abi::Report(attn::abi::Create(backend, report));
}

void attn_report_free(attn_report* report) { delete report; }

int32_t attn_report_count(const attn_report* report) {
  return report == nullptr ? 0 : static_cast<int32_t>(report->figures.size());
}

attn_status attn_report_figure(const attn_report* report, int32_t index, attn_result** result) {
  return attn::abi::Report(attn::abi::OneFigure(report, index, result));
}
