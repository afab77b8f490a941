// SPDX-License-Identifier: Apache-2.0
// A case file: {name, op, params, inputs, expected, tolerance, why, source}.
#ifndef ATTN_NATIVE_CLI_CASE_FILE_H_
#define ATTN_NATIVE_CLI_CASE_FILE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"
#include "cli/array.h"
#include "cli/json_file.h"

namespace attn::cli {

struct Operation;  // operation.h

using Names = std::vector<std::string_view>;

bool Contains(const Names& names, std::string_view name);
std::string Join(const Names& names);  // "Q, K, V"

// |got - expected| <= absolute + relative * |expected|
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// A file as it stands: the fields are there and of the right kind, nothing is known of the
// operation yet.
struct CaseFile {
  std::string name;
  std::string op;
  Json params, inputs, expected, tolerance;
  std::string unknown_fields;  // names that are none of the eight, or empty
};

// A case that its operation has accepted.
struct Case {
  std::string name;
  const Operation* operation = nullptr;
  Json params;
  std::map<std::string, Array, std::less<>> inputs;
  std::map<std::string, Array, std::less<>> expected;
  std::map<DType, Tolerance> tolerances;  // those that the file gives
  bool same_bits = false;                 // the tolerance has property or exact_value
  int64_t repeat = 1;                     // runs whose bits are compared
  std::vector<int64_t> kv_splits = {0};   // each has to give what is expected; 0 is the default
  std::vector<int64_t> threads = {1};     // each has to give the same bits
  Names idle_lists;  // lists in params whose values mean nothing to this operation's backends

  const Array* input(std::string_view key) const;
  // The file's own for this dtype, else f32's: f64 is held to what f32 is held to. Where neither is
  // there and same_bits is, any finite number will do: the bits are what is checked.
  std::optional<Tolerance> tolerance(DType dtype) const;
};

Result<CaseFile> ReadCaseFile(const std::string& path);

enum class Purpose { kEval, kCheck };

// Errors: kUnsupported or kNotFound for a field or operation that this program does not have (the
// case fails), kInvalidArgument for a value that cannot be what its field needs (the file is bad).
// To check, `expected` and `tolerance` are needed too.
Result<Case> PrepareCase(const CaseFile& file, Purpose purpose);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_CASE_FILE_H_
