// SPDX-License-Identifier: Apache-2.0
// What an operation gave, and how it is printed.
#ifndef ATTN_NATIVE_CLI_OUTPUT_H_
#define ATTN_NATIVE_CLI_OUTPUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"

namespace attn::cli {

// Dense, row-major. A float, and a half, is exact in a double; `dtype` says how many digits are its
// own.
struct Output {
  std::string_view name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

struct Run {
  std::vector<Output> outputs;
  double seconds = 0;  // in the library's calls
};

// Memory for a result of type T, filled with NaN: an element that the library forgot to write is
// then no lucky zero.
template <class T, size_t kRank>
struct Destination {
  std::vector<T> data;
  View<T, kRank> view;

  // Errors: an extent whose bytes overflow, no memory.
  Status Allocate(const char* name, const Shape<kRank>& shape);
  Output ToOutput(std::string_view name) const;
};

// The fewest digits that read back as the same number of that type, "0.1" or "1e-06"; non-finite
// ones as the strings of the case files.
std::string NumberText(double value, DType dtype);

// Nested lists.
void AppendJson(const Output& output, std::string& text);

// Writes all of it, or says why not; an incomplete write is an error, never silent.
Status WriteStandardOutput(std::string_view text);

// One line on standard error: "attn: " and the message. Returns 2, the exit code of bad input.
int Complain(std::string_view message);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_OUTPUT_H_
