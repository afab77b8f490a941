// SPDX-License-Identifier: Apache-2.0
// The operations that case files can name. A new one is a file op_NAME.cc with one function, and a
// row in operation.cc.
#ifndef ATTN_NATIVE_CLI_OPERATION_H_
#define ATTN_NATIVE_CLI_OPERATION_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"
#include "cli/case_file.h"
#include "cli/output.h"

namespace attn::cli {

// How a tensor may come with fewer axes than the library takes; axes of extent 1 are put in front.
enum class Axes {
  kAll,
  kFewerWhenPacked,  // one: the batch, where sequences are packed (cu_seqlens_q is given)
  kBroadcast,        // any, right-aligned
  kAny,              // any, kept as they are
};

struct InputSpec {
  std::string_view name;
  size_t rank;
  bool required;
  Axes axes = Axes::kAll;
};

struct OutputSpec {
  std::string_view name;
  Names any_of;  // it exists when one of these inputs does; empty: always
  Op computed_by;
  std::string_view needs = {};  // an input that has to be there too
};

// How one run differs from another of the same case.
struct Setting {
  DType dtype = DType::kF32;
  int64_t kv_splits = 0;
};

struct Operation {
  std::string_view name;
  std::vector<InputSpec> inputs;
  Names params;  // beside the lists and `repeat`, which every operation takes
  Names lists;   // those whose values mean something to it
  std::vector<OutputSpec> outputs;
  Names later;  // fields of cases.md that this operation does not have yet

  // Reads the params once to refuse bad values, and fills open axes. kInvalidArgument only.
  Status (*prepare)(Case&);

  // Computes at least `wanted`. Called only when the backend supports what they are computed by.
  Result<Run> (*run)(const Case&, const Backend&, const Setting&, const Names& wanted);
};

// Calls the library and adds the time that it took.
template <class Call>
Status Timed(Run& run, const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  Status status = call();
  run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return status;
}

// Products of one run, times the runs, within what takes minutes, not days: the reference's
// backward makes 4 * 10^7 a second. `what` says how they are counted.
Status CheckWork(const char* what, double products, const Case& c);

const Operation& AttentionOperation();        // op_attention.cc
const Operation& MergeStatesOperation();      // op_merge_states.cc
const Operation& RmsNormOperation();          // op_rms_norm.cc
const Operation& RotaryEmbeddingOperation();  // op_rotary_embedding.cc

// Errors: kUnsupported for one that cases.md has and this program does not, else kNotFound.
Result<const Operation*> FindOperation(const std::string& name);

// Every input, param and (to check) expected output is one that the operation has, and the inputs
// which an expected output needs are there. kUnsupported or kNotFound.
Status CheckFieldNames(const CaseFile& file, const Operation& operation, bool check);

// The outputs which the inputs of a case ask for.
Names AvailableOutputs(const Case& c);

// The first library operation that the backend lacks for `wanted`, as a kUnsupported.
Status CheckSupport(const Case& c, const Backend& backend, DType dtype, const Names& wanted);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_OPERATION_H_
