// SPDX-License-Identifier: Apache-2.0
#include "cli/operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/params.h"

namespace attn::cli {
namespace {

const Operation* const kOperations[] = {
    &AttentionOperation(),
    &MergeStatesOperation(),
    &RmsNormOperation(),
    &RotaryEmbeddingOperation(),
};

constexpr std::string_view kLater[] = {
    "mla_decode",
    "latent_attention",
    "linear_attention",
    "delta_rule",
    "gated_linear_attention",
    "gated_delta_rule",
    "selective_scan",
    "ssd",
};

// Sorts the names that a case uses into known, later and unknown; keeps the latter two.
class NameCheck {
 public:
  explicit NameCheck(const Operation& operation) : operation_(operation) {}

  void Use(const std::string& name, const char* kind, const Names& known) {
    if (Contains(known, name)) return;
    if (Contains(operation_.later, name)) {
      later_ += (later_.empty() ? "" : ", ") + name;
      ++later_count_;
    } else if (unknown_.empty()) {
      unknown_ = Message(operation_.name, " has no ", kind, " ", Json(name).dump(), ", it has ",
                         Join(known));
    }
  }

  Status result() const {
    if (!unknown_.empty()) return Status(StatusCode::kNotFound, unknown_);
    if (later_count_ == 0) return {};
    return Unsupported(later_, later_count_ == 1 ? " is" : " are", " not supported yet");
  }

 private:
  const Operation& operation_;
  std::string unknown_, later_;
  int later_count_ = 0;
};

template <class Spec>
Names NamesOf(const std::vector<Spec>& specs) {
  Names names;
  for (const Spec& spec : specs) names.push_back(spec.name);
  return names;
}

}  // namespace

Status CheckWork(const char* what, double products, const Case& c) {
  constexpr int64_t kMost = int64_t{1} << 33;
  const double all = products * static_cast<double>(c.repeat);
  if (all <= static_cast<double>(kMost)) return {};
  return InvalidArgument(what, ", times the runs (", c.repeat, "), is ", fmt::format("{:.0f}", all),
                         ", a case has at most ", kMost);
}

Result<const Operation*> FindOperation(const std::string& name) {
  Names names;
  for (const Operation* operation : kOperations) {
    if (operation->name == name) return operation;
    names.push_back(operation->name);
  }
  if (std::ranges::find(kLater, name) != std::end(kLater)) {
    return Unsupported("op ", name, " is not supported yet");
  }
  return Status(StatusCode::kNotFound,
                Message("unknown op ", Json(name).dump(), ", there are: ", Join(names)));
}

Status CheckFieldNames(const CaseFile& file, const Operation& operation, bool check) {
  NameCheck names(operation);
  for (const auto& [key, value] : file.inputs.items()) {
    names.Use(key, "input", NamesOf(operation.inputs));
  }
  for (const auto& [key, value] : file.params.items()) {
    if (!IsListOrRepeat(key)) names.Use(key, "param", operation.params);
  }
  if (!check) return names.result();
  for (const auto& [key, value] : file.expected.items()) {
    names.Use(key, "output", NamesOf(operation.outputs));
  }
  ATTN_RETURN_IF_ERROR(names.result());
  for (const OutputSpec& output : operation.outputs) {
    if (!file.expected.contains(output.name) || output.any_of.empty()) continue;
    const auto given = [&](std::string_view input) { return file.inputs.contains(input); };
    if (std::ranges::none_of(output.any_of, given)) {
      return Status(
          StatusCode::kNotFound,
          Message("expected.", output.name, " needs one of the inputs ", Join(output.any_of)));
    }
    if (!output.needs.empty() && !given(output.needs)) {
      return Status(StatusCode::kNotFound,
                    Message("expected.", output.name, " needs the input ", output.needs));
    }
  }
  return {};
}

Names AvailableOutputs(const Case& c) {
  Names names;
  for (const OutputSpec& output : c.operation->outputs) {
    const auto given = [&](std::string_view input) { return c.input(input) != nullptr; };
    const bool wanted = output.any_of.empty() || std::ranges::any_of(output.any_of, given);
    if (wanted && (output.needs.empty() || given(output.needs))) names.push_back(output.name);
  }
  return names;
}

Status CheckSupport(const Case& c, const Backend& backend, DType dtype, const Names& wanted) {
  for (const OutputSpec& output : c.operation->outputs) {
    if (!Contains(wanted, output.name) || backend.Supports(output.computed_by, dtype)) continue;
    return Unsupported("no ", Name(output.computed_by), " of ", Name(dtype));
  }
  return {};
}

}  // namespace attn::cli
