// SPDX-License-Identifier: Apache-2.0
// When a computed value counts as the published one. Numbers are compared as numbers: printing
// doubles would bring tables of tens of kilobytes into a page's module.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attn/article.h"

namespace attn {
namespace {

// std::pow would add 3 kB, most of it tables, to a page's module. Exact up to 10^22.
double PowerOfTen(int exponent) {
  double power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// "0.0900" is 900 * 10^-4 with three significant digits; "0" has one.
struct Decimal {
  double mantissa = 0;
  int exponent = 0;
  int digits = 0;
  bool valid = false;

  double value() const {
    return exponent < 0 ? mantissa / PowerOfTen(-exponent) : mantissa * PowerOfTen(exponent);
  }
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Decimal ParseDecimal(std::string_view text) {
  Decimal d;
  size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) ++at;
  bool any = false, point = false;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    any = true;
    d.mantissa = d.mantissa * 10 + (text[at] - '0');
    if (d.mantissa > 0) ++d.digits;
    if (point) --d.exponent;
  }
  if (!any || d.digits > 15) return {};
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return {};
    int sign = 1, power = 0;
    if (++at < text.size() && (text[at] == '-' || text[at] == '+'))
      sign = text[at++] == '-' ? -1 : 1;
    if (at == text.size()) return {};
    for (; at < text.size(); ++at) {
      if (!IsDigit(text[at]) || power > 400) return {};
      power = power * 10 + (text[at] - '0');
    }
    d.exponent += sign * power;
  }
  d.digits = std::max(d.digits, 1);
  if (negative) d.mantissa = -d.mantissa;
  d.valid = true;
  return d;
}

// In units of the last digit of `d`.
double InLastDigits(double value, const Decimal& d) {
  return d.exponent < 0 ? value * PowerOfTen(-d.exponent) : value / PowerOfTen(d.exponent);
}

// In the same units. A tie may have been rounded either way, so half a unit still agrees.
double Distance(double value, const Decimal& d) {
  return std::abs(InLastDigits(value, d) - d.mantissa);
}

// Leading digits of `d` that `value` reproduces: within half a unit of the last of them.
int32_t DigitsReproduced(double value, const Decimal& d) {
  const double distance = Distance(value, d);
  int digits = d.digits;
  for (double unit = 1; digits > 0 && !(distance <= 0.5 * unit); unit *= 10) --digits;
  return digits;
}

bool Holds(Compare compare, const Decimal& published, double computed) {
  const double value = published.value();
  switch (compare) {
    case Compare::kExact:
      return computed == value;
    case Compare::kRounded:
      return Distance(computed, published) <= 0.5;
    case Compare::kAbout:
      return std::abs(computed - value) <= 0.01 * std::abs(value);
    case Compare::kOrder:
      return computed >= value / 10 && computed <= value * 10;
    case Compare::kAtLeast:
      return computed >= value;
    case Compare::kTiny:
      return std::abs(computed - value) < 1e-15;
    case Compare::kCurve:
    case Compare::kIdentity:
      break;  // whole figures, not leaves
  }
  return false;
}

}  // namespace

std::string_view Name(Compare compare) {
  switch (compare) {
    case Compare::kExact:
      return "exact";
    case Compare::kRounded:
      return "rounded";
    case Compare::kAbout:
      return "about";
    case Compare::kOrder:
      return "order";
    case Compare::kAtLeast:
      return "at_least";
    case Compare::kTiny:
      return "abs<1e-15";
    case Compare::kCurve:
      return "curve";
    case Compare::kIdentity:
      return "identity";
  }
  return "?";
}

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAgrees:
      return "agrees";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kNeedsFile:
      return "needs-file";
    case Verdict::kLater:
      return "later";
  }
  return "?";
}

void JudgeLeaf(Compare compare, Leaf& leaf) {
  leaf.agrees = false;
  leaf.equal = false;
  leaf.digits = 0;
  if (!leaf.text.empty()) {
    leaf.agrees = leaf.equal = leaf.text == leaf.published;
    for (char c : leaf.published) leaf.digits += leaf.agrees && IsDigit(c);
    return;
  }
  if (leaf.published == "nan") {
    leaf.agrees = leaf.equal = std::isnan(leaf.number);
    return;
  }
  const Decimal published = ParseDecimal(leaf.published);
  if (!published.valid) return;
  leaf.agrees = Holds(compare, published, leaf.number);
  leaf.equal = leaf.number == published.value();
  leaf.digits = DigitsReproduced(leaf.number, published);
}

std::vector<std::string> JsonScalars(std::string_view json) {
  constexpr std::string_view kBetween = " \n\t,:[]{}";
  std::vector<std::string> scalars;
  size_t at = 0;
  while ((at = json.find_first_not_of(kBetween, at)) != json.npos) {
    const bool quoted = json[at] == '"';
    const size_t begin = quoted ? at + 1 : at;
    const size_t end =
        std::min(quoted ? json.find('"', begin) : json.find_first_of(kBetween, begin), json.size());
    at = quoted ? end + 1 : end;
    const size_t next = json.find_first_not_of(" \n\t", at);
    const bool key = quoted && next != json.npos && json[next] == ':';
    if (!key) scalars.emplace_back(json.substr(begin, end - begin));
  }
  return scalars;
}

}  // namespace attn
