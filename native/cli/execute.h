// SPDX-License-Identifier: Apache-2.0
// One case on one backend.
#ifndef ATTN_NATIVE_CLI_EXECUTE_H_
#define ATTN_NATIVE_CLI_EXECUTE_H_

#include <optional>
#include <string>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"
#include "cli/case_file.h"
#include "cli/output.h"

namespace attn::cli {

struct Execution {
  std::vector<Run> runs;  // one for each of the case's kv_splits
  std::string differs;    // how the bits of a further run of one of them differ, or empty
};

// As often as the case's `repeat` and `threads` say. Errors: kUnsupported when the backend's table
// lacks what `wanted` needs, kInvalidArgument when the inputs do not fit together, kOutOfMemory.
Result<Execution> Execute(const Case& c, const Backend& backend, DType dtype, const Names& wanted);

// The dtype asked for, else f64 for the reference and f32 for the others.
DType DTypeFor(const Backend& backend, std::optional<DType> asked);

// Without --backend: the fastest backend of this machine that has what the case needs.
const Backend& ChooseBackend(const Case& c, std::optional<DType> asked, const Names& wanted);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_EXECUTE_H_
