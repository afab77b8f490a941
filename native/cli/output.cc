// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include "cli/array.h"

namespace attn::cli {
namespace {

void AppendNested(const Output& output, size_t axis, size_t& at, std::string& text) {
  if (axis == output.shape.size()) {
    text += NumberText(output.values[at++], output.dtype);
    return;
  }
  text += '[';
  for (int64_t i = 0; i < output.shape[axis]; ++i) {
    if (i > 0) text += ", ";
    AppendNested(output, axis + 1, at, text);
  }
  text += ']';
}

}  // namespace

template <class T, size_t kRank>
Status Destination<T, kRank>::Allocate(const char* name, const Shape<kRank>& shape) {
  const Result<int64_t> n = NumElements(name, shape);
  if (!n.ok()) return n.status();
  // At least one element: a view without a pointer means "absent" to the library.
  try {
    data.assign(static_cast<size_t>(std::max<int64_t>(*n, 1)),
                RoundTo<T>(std::numeric_limits<double>::quiet_NaN()));
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory,
                  Message("no memory for ", name, " ",
                          ShapeText(std::vector<int64_t>(shape.begin(), shape.end()))));
  }
  view = View<T, kRank>(data.data(), shape);
  return {};
}

template <class T, size_t kRank>
Output Destination<T, kRank>::ToOutput(std::string_view name) const {
  Output output;
  output.name = name;
  output.dtype = DTypeOf<T>();
  output.shape.assign(view.shape.begin(), view.shape.end());
  const bool empty = std::ranges::count(view.shape, 0) > 0;
  if (empty) return output;
  output.values.reserve(data.size());
  for (const T x : data) output.values.push_back(ToDouble(x));
  return output;
}

template struct Destination<BFloat16, 4>;
template struct Destination<Float16, 4>;
#define ATTN_INSTANTIATE(kRank)              \
  template struct Destination<float, kRank>; \
  template struct Destination<double, kRank>;
ATTN_INSTANTIATE(1)
ATTN_INSTANTIATE(2)
ATTN_INSTANTIATE(3)
ATTN_INSTANTIATE(4)
#undef ATTN_INSTANTIATE

std::string NumberText(double value, DType dtype) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  std::string text = dtype == DType::kF64 ? fmt::format("{}", value)
                                          : fmt::format("{}", static_cast<float>(value));
  // A reader that tells 1 from 1.0 sees a real number.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void AppendJson(const Output& output, std::string& text) {
  size_t at = 0;
  AppendNested(output, 0, at, text);
}

Status WriteStandardOutput(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      // A parent may hand down a pipe that does not block (Node does) and is full.
      pollfd out = {STDOUT_FILENO, POLLOUT, 0};
      ::poll(&out, 1, 100);
    } else if (errno != EINTR) {
      return InvalidArgument("standard output cannot be written: ", std::strerror(errno));
    }
  }
  return {};
}

int Complain(std::string_view message) {
  std::string line = fmt::format("attn: {}", message);
  std::ranges::replace(line, '\n', ' ');
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
  return 2;
}

}  // namespace attn::cli
