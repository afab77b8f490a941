// SPDX-License-Identifier: Apache-2.0
// O_a, LSE_a, O_b, LSE_b -> O, LSE.
#include "attn/merge.h"
#include "cli/operation.h"

namespace attn::cli {
namespace {

Status PrepareMerge(Case& c) {
  Array& a = c.inputs["O_a"];
  Array& b = c.inputs["O_b"];
  FillOpenAxes(b.shape, a);
  FillOpenAxes(a.shape, b);
  for (const char* key : {"LSE_a", "LSE_b"}) FillOpenAxes(a.shape, c.inputs[key]);
  return CheckWork("rows*Dv", Span(a.shape), c);
}

template <class T>
Result<Run> RunMergeAs(const Case& c) {
  Tensor<T, 2> o_a, o_b;
  Tensor<T, 1> lse_a, lse_b;
  ATTN_RETURN_IF_ERROR(Load("inputs.O_a", *c.input("O_a"), o_a));
  ATTN_RETURN_IF_ERROR(Load("inputs.O_b", *c.input("O_b"), o_b));
  ATTN_RETURN_IF_ERROR(Load("inputs.LSE_a", *c.input("LSE_a"), lse_a));
  ATTN_RETURN_IF_ERROR(Load("inputs.LSE_b", *c.input("LSE_b"), lse_b));
  Destination<T, 2> o;
  Destination<T, 1> lse;
  ATTN_RETURN_IF_ERROR(o.Allocate("O", o_a.view.shape));
  ATTN_RETURN_IF_ERROR(lse.Allocate("LSE", lse_a.view.shape));
  Run run;
  ATTN_RETURN_IF_ERROR(Timed(run, [&] {
    return MergeStates<T>({o_a.view, lse_a.view}, {o_b.view, lse_b.view}, {o.view, lse.view});
  }));
  run.outputs = {o.ToOutput("O"), lse.ToOutput("LSE")};
  return run;
}

Result<Run> RunMerge(const Case& c, const Backend&, const Setting& setting, const Names&) {
  return setting.dtype == DType::kF32 ? RunMergeAs<float>(c) : RunMergeAs<double>(c);
}

}  // namespace

const Operation& MergeStatesOperation() {
  static const Operation operation = {
      .name = "merge_states",
      .inputs = {{"O_a", 2, true}, {"LSE_a", 1, true}, {"O_b", 2, true}, {"LSE_b", 1, true}},
      .params = {},
      .lists = {},
      .outputs = {{"O", {}, Op::kMergeStates}, {"LSE", {}, Op::kMergeStates}},
      .later = {},
      .prepare = PrepareMerge,
      .run = RunMerge,
  };
  return operation;
}

}  // namespace attn::cli
