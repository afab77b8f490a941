// SPDX-License-Identifier: Apache-2.0
#include "bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <regex>

#include "bench/environment.h"

namespace attn::bench {
namespace {

// The sizes of the PyTorch and onnxruntime figures that README.md compares with.
const std::vector<std::string> kShapes = {"1x8x1024x64", "1x8x1024x64c", "1x8x1024x128",
                                          "1x8x1024x128c"};

Result<std::vector<DType>> DTypes(const std::vector<std::string>& names) {
  std::vector<DType> dtypes;
  for (const std::string& name : names) {
    const auto known = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16};
    const auto found = std::ranges::find(known, name, [](DType dtype) { return Name(dtype); });
    if (found == known.end()) {
      return InvalidArgument("dtype \"", name, "\": known are f32, f64, bf16, f16");
    }
    dtypes.push_back(*found);
  }
  if (dtypes.empty()) dtypes = {DType::kF32};
  return dtypes;
}

// kAttentionBackward: no form of forward.
Op OpOfForm(std::string_view name) {
  for (const Op op : {Op::kAttentionForward, Op::kAttentionExplicit, Op::kAttentionDecode}) {
    if (name == FormName(op)) return op;
  }
  return Op::kAttentionBackward;
}

// Forward in each form, and backward.
Result<std::vector<Op>> Ops(const std::vector<std::string>& names,
                            const std::vector<std::string>& forms) {
  for (const std::string& form : forms) {
    if (OpOfForm(form) == Op::kAttentionBackward) {
      return InvalidArgument("form \"", form, "\": known are flash, explicit, decode");
    }
  }
  std::vector<Op> ops;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"forward"} : names) {
    if (name == "backward") {
      ops.push_back(Op::kAttentionBackward);
    } else if (const auto neighbour = NeighbourOf(name)) {
      ops.push_back(*neighbour);
    } else if (name != "forward") {
      return InvalidArgument("op \"", name,
                             "\": known are forward, backward, rms_norm, rotary, matmul");
    } else if (forms.empty()) {
      ops.push_back(Op::kAttentionForward);
    } else {
      for (const std::string& form : forms) {
        ops.push_back(OpOfForm(form));
      }
    }
  }
  const auto of_forward = [](Op op) { return OpOfForm(FormName(op)) == op; };
  if (!forms.empty() && std::ranges::none_of(ops, of_forward)) {
    return InvalidArgument("form \"", forms[0], "\": only op forward has forms");
  }
  return ops;
}

struct Sized {
  ForwardShape shape;
  std::vector<Op> ops;
};

Status Append(std::string_view text, const std::vector<Op>& ops, std::vector<Sized>& to) {
  const Result<ForwardShape> shape = ParseShape(text);
  if (!shape.ok()) return shape.status();
  to.push_back({*shape, ops});
  return {};
}

// The shapes asked for are those of every operation; by default each has its own.
Result<std::vector<Sized>> Shapes(const std::vector<std::string>& texts,
                                  const std::vector<Op>& ops) {
  std::vector<Sized> shapes;
  for (const std::string& text : texts) ATTN_RETURN_IF_ERROR(Append(text, ops, shapes));
  if (!texts.empty()) return shapes;
  std::vector<Op> attention;
  for (const Op op : ops) {
    if (!IsNeighbour(op)) attention.push_back(op);
  }
  for (const std::string& text : kShapes) {
    if (!attention.empty()) ATTN_RETURN_IF_ERROR(Append(text, attention, shapes));
  }
  for (const Op op : ops) {
    if (IsNeighbour(op)) ATTN_RETURN_IF_ERROR(Append(NeighbourShape(op), {op}, shapes));
  }
  return shapes;
}

Result<std::vector<int64_t>> Threads(const BenchOptions& options) {
  for (const int64_t threads : options.threads) {
    if (threads < 1) return InvalidArgument("threads is ", threads, ", needed is 1 or more");
    if (threads > 1 && !options.on_threads) {
      return Unsupported("threads is ", threads, ", this program has one");
    }
  }
  return options.threads.empty() ? std::vector<int64_t>{1} : options.threads;
}

// Every wanted beginning must fit a backend.
Status CheckNames(const std::vector<std::string>& wanted, std::span<const Backend> backends) {
  for (const std::string& name : wanted) {
    std::string known;
    bool found = false;
    for (const Backend& backend : backends) {
      found = found || (!name.empty() && backend.name.starts_with(name));
      known += (known.empty() ? "" : ", ") + backend.name;
    }
    if (found) continue;
    return Status(StatusCode::kNotFound,
                  Message("no backend \"", name, "\"; this machine has: ", known));
  }
  return {};
}

bool Wanted(const Backend& backend, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (backend.name.starts_with(name)) return true;
  }
  return names.empty();
}

int64_t ElementBytes(const Row& row) {
  return row.dtype == DType::kF32 ? 4 : row.dtype == DType::kF64 ? 8 : 2;
}

// Why this row is not measured, or nothing.
std::string Reason(const Row& row, const BenchOptions& options, std::optional<int64_t> memory) {
  if (options.backends.empty() && row.backend == &ReferenceBackend()) {
    return "the slow definition, no candidate; --backend reference measures it";
  }
  if (options.backends.empty() && row.backend == &PortableBackend()) {
    return "made for its bits, not for speed; --backend portable measures it";
  }
  if (!row.backend->Supports(row.op, row.dtype)) {
    return Message(row.backend->name, " has no ", attn::Name(row.op), " of ",
                   attn::Name(row.dtype));
  }
  if (row.neighbour() && !NeighbourLacks(row.op, row.shape).empty()) {
    return NeighbourLacks(row.op, row.shape);
  }
  const int64_t bytes = row.elements() * ElementBytes(row);
  if (memory && bytes > *memory / 2) {
    return fmt::format("its tensors need {:.1f} GiB, more than half of this machine's {:.1f}",
                       static_cast<double>(bytes) / 0x1p30, static_cast<double>(*memory) / 0x1p30);
  }
  return "";
}

}  // namespace

std::string_view FormName(Op op) {
  if (op == Op::kAttentionDecode) return "decode";
  return op == Op::kAttentionExplicit ? "explicit" : "flash";
}

int64_t Row::flops() const {
  return neighbour() ? NeighbourFlops(op, shape) : Flops(shape, backward());
}

int64_t Row::bytes() const {
  return neighbour() ? elements() * ElementBytes(*this)
                     : CompulsoryBytes(shape, ElementBytes(*this), backward());
}

int64_t Row::elements() const {
  return neighbour() ? NeighbourElements(op, shape) : TensorElements(shape, backward());
}

double Row::tolerance() const {
  return neighbour() ? NeighbourTolerance(op, dtype, shape) : Tolerance(dtype, shape.keys);
}

std::string Row::OpName() const {
  if (neighbour()) return std::string(NeighbourName(op));
  return backward() ? "attention_backward" : "attention_forward";
}

std::string Row::Name() const {
  const std::string form = neighbour() ? "" : fmt::format("{}/", FormName(op));
  const std::string name =
      fmt::format("{}/{}/{}/{}{}", OpName(), Text(shape), attn::Name(dtype), form, backend->name);
  return threads == 1 ? name : fmt::format("{}/threads:{}", name, threads);
}

std::string Row::Command(const BenchOptions& options) const {
  const std::string what = neighbour()  ? fmt::format("--op {}", NeighbourName(op))
                           : backward() ? std::string("--op backward")
                                        : fmt::format("--form {}", FormName(op));
  return fmt::format("{} bench --backend {} --shape {} --dtype {} {} --seconds {}{}{}",
                     options.program, backend->name, Text(shape), attn::Name(dtype), what,
                     options.seconds, options.small_pages ? " --small-pages" : "",
                     threads == 1 ? "" : fmt::format(" --threads {}", threads));
}

bool Row::SameProblem(const Row& other) const {
  return Text(shape) == Text(other.shape) && dtype == other.dtype && op == other.op;
}

Result<Plan> MakePlan(const BenchOptions& options, std::span<const Backend> backends) {
  if (!std::isfinite(options.seconds) || options.seconds <= 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("seconds is {}, a positive number is needed", options.seconds));
  }
  const auto dtypes = DTypes(options.dtypes);
  if (!dtypes.ok()) return dtypes.status();
  const auto ops = Ops(options.ops, options.forms);
  if (!ops.ok()) return ops.status();
  const auto shapes = Shapes(options.shapes, *ops);
  if (!shapes.ok()) return shapes.status();
  const auto counts = Threads(options);
  if (!counts.ok()) return counts.status();
  ATTN_RETURN_IF_ERROR(CheckNames(options.backends, backends));
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error& error) {
    return InvalidArgument("filter \"", options.filter, "\": ", error.what());
  }

  Plan plan;
  const std::optional<int64_t> memory = PhysicalMemory();
  for (const auto& [shape, ops_of_shape] : *shapes) {
    for (const DType dtype : *dtypes) {
      for (const Op op : ops_of_shape) {
        for (const Backend& backend : backends) {
          if (!Wanted(backend, options.backends)) continue;
          for (const int64_t threads : *counts) {
            Row row = {&backend, IsaOf(backend.name), shape, dtype, op, threads};
            if (!std::regex_search(row.Name(), filter)) continue;
            const std::string reason = Reason(row, options, memory);
            if (!reason.empty()) {
              plan.skipped.push_back({row.Name(), reason});
              continue;
            }
            if (threads > 1) {
              const auto on = options.on_threads(backend, threads);
              if (!on.ok()) return on.status();
              row.on_threads = *on;
            }
            plan.rows.push_back(row);
          }
        }
      }
    }
  }
  if (plan.rows.empty() && plan.skipped.empty()) {
    return Status(StatusCode::kNotFound, Message("no row's name matches filter \"", options.filter,
                                                 "\"; --list shows them all"));
  }
  return plan;
}

}  // namespace attn::bench
