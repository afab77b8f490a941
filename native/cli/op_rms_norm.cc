// SPDX-License-Identifier: Apache-2.0
// X, W -> Y. The axes from `axis` on are normalised together.
#include <cstddef>

#include "attn/norm.h"
#include "cli/operation.h"
#include "cli/params.h"

namespace attn::cli {
namespace {

struct RmsNormParams {
  int64_t axis = -1;  // from the front once it is read
  double eps = 1e-5;
};

Result<RmsNormParams> ReadRmsNormParams(const Case& c) {
  const int64_t rank = static_cast<int64_t>(c.input("X")->shape.size());
  std::optional<int64_t> axis = -1;
  std::optional<double> eps = 1e-5;
  ATTN_RETURN_IF_ERROR(ReadInteger(c.params, "axis", axis));
  ATTN_RETURN_IF_ERROR(ReadNumber(c.params, "eps", eps));
  if (*axis < -rank || *axis >= rank) {
    return InvalidArgument("params.axis is ", *axis, ", X has ", rank, " axes");
  }
  return RmsNormParams{*axis < 0 ? *axis + rank : *axis, *eps};
}

Status PrepareRmsNorm(Case& c) {
  Array& x = c.inputs["X"];
  Array& w = c.inputs["W"];
  FillOpenAxes({}, x);
  FillOpenAxes({}, w);
  const Result<RmsNormParams> params = ReadRmsNormParams(c);
  if (!params.ok()) return params.status();
  const std::vector<int64_t> normalised(x.shape.begin() + static_cast<ptrdiff_t>(params->axis),
                                        x.shape.end());
  if (w.shape != normalised) {
    return InvalidArgument("inputs.W has shape ", ShapeText(w.shape), ", needed is ",
                           ShapeText(normalised));
  }
  return CheckWork("elements of X", Span(x.shape), c);
}

// As rows that follow each other, whatever the layout in the file.
template <class T>
Status LoadDense(const std::string& where, Array array, std::vector<T>& dense) {
  PrependAxes(4 - array.shape.size(), array);
  Tensor<T, 4> tensor;
  ATTN_RETURN_IF_ERROR(Load(where, array, tensor));
  const auto [n0, n1, n2, n3] = tensor.view.shape;
  for (int64_t a = 0; a < n0; ++a) {
    for (int64_t b = 0; b < n1; ++b) {
      for (int64_t i = 0; i < n2; ++i) {
        for (int64_t j = 0; j < n3; ++j) dense.push_back(tensor.view(a, b, i, j));
      }
    }
  }
  return {};
}

template <class T>
Result<Run> RunRmsNormAs(const Case& c, const Backend& backend) {
  const Result<RmsNormParams> params = ReadRmsNormParams(c);
  if (!params.ok()) return params.status();
  const std::vector<int64_t>& shape = c.input("X")->shape;
  std::vector<T> x, w;
  ATTN_RETURN_IF_ERROR(LoadDense("inputs.X", *c.input("X"), x));
  ATTN_RETURN_IF_ERROR(LoadDense("inputs.W", *c.input("W"), w));
  int64_t rows = 1;
  for (int64_t i = 0; i < params->axis; ++i) rows *= shape[static_cast<size_t>(i)];
  const int64_t width = static_cast<int64_t>(w.size());
  const Shape<4> as_rows = {1, 1, rows, width};
  Destination<T, 4> y;
  ATTN_RETURN_IF_ERROR(y.Allocate("Y", as_rows));
  Run run;
  ATTN_RETURN_IF_ERROR(Timed(run, [&] {
    return RmsNorm<T>(backend, {x.data(), as_rows}, {w.data(), {width}}, params->eps, y.view);
  }));
  run.outputs = {y.ToOutput("Y")};
  run.outputs[0].shape = shape;
  return run;
}

Result<Run> RunRmsNorm(const Case& c, const Backend& backend, const Setting& setting,
                       const Names&) {
  return setting.dtype == DType::kF32 ? RunRmsNormAs<float>(c, backend)
                                      : RunRmsNormAs<double>(c, backend);
}

}  // namespace

const Operation& RmsNormOperation() {
  static const Operation operation = {
      .name = "rms_norm",
      .inputs = {{"X", 4, true, Axes::kAny}, {"W", 4, true, Axes::kAny}},
      .params = {"axis", "eps"},
      .lists = {},
      .outputs = {{"Y", {}, Op::kRmsNorm}},
      .later = {},
      .prepare = PrepareRmsNorm,
      .run = RunRmsNorm,
  };
  return operation;
}

}  // namespace attn::cli
