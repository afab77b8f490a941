// SPDX-License-Identifier: Apache-2.0
#include "cli/compare.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

namespace attn::cli {
namespace {

bool ShapesFit(const std::vector<int64_t>& got, const Array& want) {
  const size_t known = want.shape.size();
  if (want.open_ended ? known > got.size() : known != got.size()) return false;
  return std::equal(want.shape.begin(), want.shape.end(), got.begin());
}

// Row-major index of an element, last axis fastest.
void Next(const std::vector<int64_t>& shape, std::vector<int64_t>& at) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i]) return;
    at[i] = 0;
  }
}

double At(const Array& array, const std::vector<int64_t>& at) {
  int64_t offset = array.offset;
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * array.strides[i];
  return array.data[static_cast<size_t>(offset)];
}

// How far apart two elements are, or nothing where that is near enough. Infinite where one is
// finite and the other is not, or where they are not the same infinity.
std::optional<double> Error(double got, double want, const Tolerance& tolerance) {
  if (std::isnan(want) && std::isnan(got)) return std::nullopt;
  if (!std::isfinite(want) || !std::isfinite(got)) {
    if (got == want) return std::nullopt;
    return std::numeric_limits<double>::infinity();
  }
  const double error = std::abs(got - want);
  if (error <= tolerance.absolute + tolerance.relative * std::abs(want)) return std::nullopt;
  return error;
}

// A NaN's sign says nothing.
std::string PlainText(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}  // namespace

std::string Difference(const Output& got, const Array& want, const Tolerance& tolerance) {
  if (!ShapesFit(got.shape, want)) {
    return fmt::format("{} has shape {}, expected is {}", got.name, ShapeText(got.shape),
                       ShapeText(want.shape));
  }
  size_t outside = 0;
  double worst = -1, worst_got = 0, worst_want = 0;
  std::vector<int64_t> at(got.shape.size(), 0), worst_at;
  for (const double value : got.values) {
    const double needed = At(want, at);
    if (const std::optional<double> error = Error(value, needed, tolerance)) {
      ++outside;
      if (*error > worst) {
        worst = *error, worst_got = value, worst_want = needed, worst_at = at;
      }
    }
    Next(got.shape, at);
  }
  if (outside == 0) return {};
  return fmt::format("{} max_abs={} at {}: got {}, expected {} ({} of {} outside atol {} rtol {})",
                     got.name, PlainText(worst), ShapeText(worst_at), PlainText(worst_got),
                     PlainText(worst_want), outside, got.values.size(), tolerance.absolute,
                     tolerance.relative);
}

std::string BitDifference(const Run& first, const Run& again, int64_t run, int64_t runs) {
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    const Output& a = first.outputs[i];
    const Output& b = again.outputs[i];
    std::vector<int64_t> at(a.shape.size(), 0);
    for (size_t j = 0; j < a.values.size(); ++j) {
      if (std::bit_cast<uint64_t>(a.values[j]) != std::bit_cast<uint64_t>(b.values[j])) {
        return fmt::format("{} differs at {} between run 1 ({}) and run {} of {} ({})", a.name,
                           ShapeText(at), PlainText(a.values[j]), run, runs,
                           PlainText(b.values[j]));
      }
      Next(a.shape, at);
    }
  }
  return {};
}

}  // namespace attn::cli
