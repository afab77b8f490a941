// SPDX-License-Identifier: Apache-2.0
#include "cli/case_file.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "cli/operation.h"
#include "cli/params.h"

namespace attn::cli {
namespace {

constexpr std::string_view kFields[] = {"name",     "op",        "params", "inputs",
                                        "expected", "tolerance", "why",    "source"};

// A name goes into lines of output: one with a line feed could forge a verdict.
Status CheckName(const std::string& name) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (name.empty()) return InvalidArgument("name is empty");
  if (std::ranges::any_of(name, control)) {
    return InvalidArgument("name has a control character: ", Json(name).dump());
  }
  return {};
}

Status TakeObject(Json& json, const char* key, Json& out) {
  if (!json.contains(key)) return {};
  if (!json[key].is_object()) {
    return InvalidArgument(key, " is ", Excerpt(json[key]), ", needed is an object");
  }
  out = std::move(json[key]);
  return {};
}

Status ReadString(const Json& json, const char* key, std::string& out) {
  if (!json[key].is_string()) {
    return InvalidArgument(key, " is ", Excerpt(json[key]), ", needed is a string");
  }
  out = json[key].get<std::string>();
  return {};
}

Status ReadBound(const std::string& where, const Json& json, const char* key, double& out) {
  if (!json.contains(key)) return {};
  if (!json[key].is_number() || json[key].get<double>() < 0) {
    return InvalidArgument(where, ".", key, " is ", Excerpt(json[key]),
                           ", needed is a number of at least 0");
  }
  out = json[key].get<double>();
  return {};
}

// The bounds of each dtype, and the fields whose only rule is "the same bits on every run".
// "nonfinite" and "alternative" are prose: non-finite places always match exactly.
Status ReadTolerance(const Json& json, Case& out) {
  constexpr std::pair<const char*, DType> kBounded[] = {
      {"f32", DType::kF32}, {"f64", DType::kF64}, {"bf16", DType::kBF16}, {"f16", DType::kF16}};
  for (const auto& [key, value] : json.items()) {
    if (key == "nonfinite" || key == "alternative") continue;
    if (key == "property" || key == "exact_value") {
      out.same_bits = true;
      out.repeat = std::max<int64_t>(out.repeat, 2);
      continue;
    }
    const auto* type =
        std::ranges::find(kBounded, key, [](auto& row) { return std::string(row.first); });
    if (type == std::end(kBounded)) {
      return Status(StatusCode::kNotFound, "unknown field tolerance." + key);
    }
    const std::string where = "tolerance." + key;
    if (!value.is_object() || value.empty()) {
      return InvalidArgument(where, " is ", value.empty() ? "empty" : Excerpt(value),
                             ", needed is {atol, rtol}");
    }
    for (const auto& [bound, unused] : value.items()) {
      if (bound != "atol" && bound != "rtol") {
        return Status(StatusCode::kNotFound, "unknown field " + where + "." + bound);
      }
    }
    Tolerance tolerance;
    ATTN_RETURN_IF_ERROR(ReadBound(where, value, "atol", tolerance.absolute));
    ATTN_RETURN_IF_ERROR(ReadBound(where, value, "rtol", tolerance.relative));
    out.tolerances[type->second] = tolerance;
  }
  const bool bounded = out.tolerances.contains(DType::kF32) || out.tolerances.contains(DType::kF64);
  if (!bounded && !out.same_bits) {
    return InvalidArgument("tolerance has neither f32, f64, property nor exact_value");
  }
  return {};
}

Status ReadInputs(const CaseFile& file, Case& out) {
  for (const InputSpec& spec : out.operation->inputs) {
    const std::string key(spec.name);
    if (!file.inputs.contains(key)) {
      if (spec.required) return InvalidArgument("inputs has no ", key);
      continue;
    }
    const std::string where = "inputs." + key;
    Result<Array> array = ReadArray(where, file.inputs[key]);
    if (!array.ok()) return array.status();
    const bool packed = spec.axes == Axes::kFewerWhenPacked && file.inputs.contains("cu_seqlens_q");
    const bool any = spec.axes == Axes::kBroadcast || spec.axes == Axes::kAny;
    const size_t rank =
        any ? std::min(array->shape.size(), spec.rank) : spec.rank - (packed ? 1 : 0);
    ATTN_RETURN_IF_ERROR(SetRank(where, rank, *array));
    if (spec.axes != Axes::kAny) PrependAxes(spec.rank - rank, *array);
    out.inputs[key] = std::move(*array);
  }
  return {};
}

Status ReadExpected(const CaseFile& file, Case& out) {
  for (const auto& [key, value] : file.expected.items()) {
    Result<Array> array = ReadArray("expected." + key, value);
    if (!array.ok()) return array.status();
    if (array->boolean) return InvalidArgument("expected.", key, " holds booleans");
    out.expected[key] = std::move(*array);
  }
  return {};
}

}  // namespace

bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string Join(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

const Array* Case::input(std::string_view key) const {
  const auto found = inputs.find(key);
  return found == inputs.end() ? nullptr : &found->second;
}

std::optional<Tolerance> Case::tolerance(DType dtype) const {
  if (const auto own = tolerances.find(dtype); own != tolerances.end()) return own->second;
  if (const auto f32 = tolerances.find(DType::kF32); f32 != tolerances.end()) {
    // What 7 and 10 bits of mantissa allow (cases.md).
    const double least = dtype == DType::kBF16 ? 1.6e-2 : dtype == DType::kF16 ? 2e-3 : 0;
    return Tolerance{std::max(f32->second.absolute, least), std::max(f32->second.relative, least)};
  }
  if (same_bits) return Tolerance{std::numeric_limits<double>::infinity(), 0};
  return std::nullopt;
}

Result<CaseFile> ReadCaseFile(const std::string& path) {
  Result<Json> json = ReadJsonFile(path);
  if (!json.ok()) return json.status();
  if (!json->is_object()) return InvalidArgument("holds ", Excerpt(*json), ", needed is an object");
  CaseFile file;
  for (const char* key : {"op", "inputs"}) {
    if (!json->contains(key)) return InvalidArgument("has no ", key);
  }
  file.name = std::filesystem::path(path).stem().string();
  if (json->contains("name")) ATTN_RETURN_IF_ERROR(ReadString(*json, "name", file.name));
  ATTN_RETURN_IF_ERROR(CheckName(file.name));
  ATTN_RETURN_IF_ERROR(ReadString(*json, "op", file.op));
  ATTN_RETURN_IF_ERROR(TakeObject(*json, "params", file.params));
  ATTN_RETURN_IF_ERROR(TakeObject(*json, "inputs", file.inputs));
  ATTN_RETURN_IF_ERROR(TakeObject(*json, "expected", file.expected));
  ATTN_RETURN_IF_ERROR(TakeObject(*json, "tolerance", file.tolerance));
  for (const auto& [key, value] : json->items()) {
    if (std::ranges::find(kFields, key) != std::end(kFields)) continue;
    file.unknown_fields += (file.unknown_fields.empty() ? "" : ", ") + key;
  }
  return file;
}

Result<Case> PrepareCase(const CaseFile& file, Purpose purpose) {
  const bool check = purpose == Purpose::kCheck;
  if (!file.unknown_fields.empty()) {
    return Status(StatusCode::kNotFound, "unknown field " + file.unknown_fields);
  }
  Case out;
  out.name = file.name;
  Result<const Operation*> operation = FindOperation(file.op);
  if (!operation.ok()) return operation.status();
  out.operation = *operation;
  ATTN_RETURN_IF_ERROR(CheckFieldNames(file, *out.operation, check));
  out.params = file.params;
  ATTN_RETURN_IF_ERROR(ReadLists(file.params, out.operation->lists, out));
  ATTN_RETURN_IF_ERROR(ReadInputs(file, out));
  if (check && file.expected.empty()) return InvalidArgument("expected names no output");
  if (check && file.tolerance.empty()) return InvalidArgument("has no tolerance");
  if (check) {
    ATTN_RETURN_IF_ERROR(ReadExpected(file, out));
    ATTN_RETURN_IF_ERROR(ReadTolerance(file.tolerance, out));
  }
  ATTN_RETURN_IF_ERROR(out.operation->prepare(out));
  return out;
}

}  // namespace attn::cli
