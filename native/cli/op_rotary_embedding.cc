// SPDX-License-Identifier: Apache-2.0
// X [B,H,S,D], cos and sin [rows,r/2] with positions [B,S], or [B,S,r/2] without -> Y.
#include "attn/rotary.h"
#include "cli/operation.h"
#include "cli/params.h"

namespace attn::cli {
namespace {

Result<RotaryPairing> ReadPairing(const Case& c) {
  size_t pairing = 0;
  if (!c.params.contains("rope_pairing")) {
    return InvalidArgument("params has no rope_pairing, needed is interleaved or half");
  }
  ATTN_RETURN_IF_ERROR(ReadChoice(c.params, "rope_pairing", {"interleaved", "half"}, pairing));
  return pairing == 0 ? RotaryPairing::kInterleaved : RotaryPairing::kHalf;
}

Status PrepareRotary(Case& c) {
  Array& x = c.inputs["X"];
  FillOpenAxes({}, x);
  for (const char* key : {"cos", "sin"}) {
    Array& table = c.inputs[key];
    FillOpenAxes({}, table);
    const std::vector<int64_t> tokens = {x.shape[0], x.shape[2]};
    const std::vector<int64_t> front(table.shape.begin(), table.shape.begin() + 2);
    if (c.input("positions") != nullptr ? table.shape[0] != 1 : front != tokens) {
      return InvalidArgument("inputs.", key, " has shape ", ShapeText(table.shape),
                             c.input("positions") != nullptr
                                 ? ", needed is one table: positions choose its rows"
                                 : ", needed is a row for each of X's tokens, or positions");
    }
  }
  if (c.input("positions") != nullptr)
    FillOpenAxes({x.shape[0], x.shape[2]}, c.inputs["positions"]);
  const Result<RotaryPairing> pairing = ReadPairing(c);
  if (!pairing.ok()) return pairing.status();
  std::optional<int64_t> width;
  ATTN_RETURN_IF_ERROR(ReadInteger(c.params, "rotary_dim", width));
  const int64_t turning = width.value_or(x.shape[3]), half = c.inputs["cos"].shape[2];
  if (turning != 2 * half) {
    return InvalidArgument("params.rotary_dim is ", turning, ", inputs.cos has width ", half,
                           ", needed is half of it");
  }
  return CheckWork("elements of X", Span(x.shape), c);
}

template <class T>
Result<Run> RunRotaryAs(const Case& c, const Backend& backend) {
  const Result<RotaryPairing> pairing = ReadPairing(c);
  if (!pairing.ok()) return pairing.status();
  Tensor<T, 4> x;
  Tensor<T, 3> cos, sin;
  Tensor<int64_t, 2> positions;
  ATTN_RETURN_IF_ERROR(Load("inputs.X", *c.input("X"), x));
  ATTN_RETURN_IF_ERROR(Load("inputs.cos", *c.input("cos"), cos));
  ATTN_RETURN_IF_ERROR(Load("inputs.sin", *c.input("sin"), sin));
  const auto [batch, heads, tokens, width] = x.view.shape;
  RotaryTables<T> tables;
  Destination<T, 4> y;
  ATTN_RETURN_IF_ERROR(y.Allocate("Y", x.view.shape));
  if (const Array* given = c.input("positions")) {
    ATTN_RETURN_IF_ERROR(Load("inputs.positions", *given, positions));
    tables.positions = positions.view;
  }
  Run run;
  const auto table = [](const View<const T, 3>& all, int64_t b) {
    return View<const T, 2>(all.data + b * all.strides[0], {all.shape[1], all.shape[2]},
                            {all.strides[1], all.strides[2]});
  };
  // With a table a sequence each sequence is a call of its own.
  const bool shared = tables.positions.present();
  for (int64_t b = 0; b < (shared ? 1 : batch); ++b) {
    tables.cos = table(cos.view, b), tables.sin = table(sin.view, b);
    View<const T, 4> from = x.view;
    View<T, 4> to = y.view;
    if (!shared) {
      from.data += b * from.strides[0], to.data += b * to.strides[0];
      from.shape[0] = to.shape[0] = 1;
    }
    ATTN_RETURN_IF_ERROR(
        Timed(run, [&] { return RotaryEmbedding<T>(backend, from, tables, *pairing, to); }));
  }
  run.outputs = {y.ToOutput("Y")};
  return run;
}

Result<Run> RunRotary(const Case& c, const Backend& backend, const Setting& setting, const Names&) {
  return setting.dtype == DType::kF32 ? RunRotaryAs<float>(c, backend)
                                      : RunRotaryAs<double>(c, backend);
}

}  // namespace

const Operation& RotaryEmbeddingOperation() {
  static const Operation operation = {
      .name = "rotary_embedding",
      .inputs = {{"X", 4, true},
                 {"cos", 3, true, Axes::kBroadcast},
                 {"sin", 3, true, Axes::kBroadcast},
                 {"positions", 2, false}},
      .params = {"rope_pairing", "rotary_dim"},
      .lists = {},
      .outputs = {{"Y", {}, Op::kRotaryEmbedding}},
      .later = {},
      .prepare = PrepareRotary,
      .run = RunRotary,
  };
  return operation;
}

}  // namespace attn::cli
