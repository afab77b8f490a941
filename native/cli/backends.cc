// SPDX-License-Identifier: Apache-2.0
// `attn backends`: what this machine can run, and why the rest is absent.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/output.h"
#include "targets/targets.h"

namespace attn::cli {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF64};

struct Absent {
  std::string name, reason;
};

// Compiled in, but this CPU lacks the instructions; and what this build leaves out.
std::vector<Absent> AbsentBackends() {
  std::vector<Absent> absent;
  const auto add = [&](const char* lowering, std::span<const Target> targets) {
    for (const Target& target : targets) {
      if ((SupportedHighwayBits() & target.highway_bit) != 0) continue;
      absent.push_back({fmt::format("{}:{}", lowering, target.name),
                        "compiled in, but this CPU lacks its instructions"});
    }
    if (targets.empty()) absent.push_back({lowering, "not part of this build"});
  };
  add("highway", HighwayTargets());
  add("xsimd", XsimdTargets());
  for (const char* name : {"cuda", "cuda-emulated"}) {
    if (!FindBackend(name).ok()) absent.push_back({name, "not part of this build"});
  }
  return absent;
}

// The library numbers its operations from 0 and names each: a new one shows up here by itself.
std::vector<std::string> Operations(const Backend& backend, DType dtype) {
  std::vector<std::string> names;
  for (int32_t i = 0;; ++i) {
    const auto op = static_cast<Op>(i);
    if (Name(op) == "unknown operation") return names;
    if (backend.Supports(op, dtype)) names.emplace_back(Name(op));
  }
}

std::string AsJson(const std::vector<Absent>& absent) {
  // Ordered, so that a name comes before what is said of it.
  nlohmann::ordered_json json;
  json["backends"] = Json::array();
  for (const Backend& backend : Backends()) {
    nlohmann::ordered_json row;
    row["name"] = backend.name;
    row["dtypes"] = nlohmann::ordered_json::object();
    for (const DType dtype : kTypes) {
      if (backend.Lanes(dtype) == 0) continue;
      nlohmann::ordered_json& type = row["dtypes"][std::string(Name(dtype))];
      type["lanes"] = backend.Lanes(dtype);
      type["operations"] = Operations(backend, dtype);
    }
    row["default"] = &backend == &DefaultBackend();
    json["backends"].push_back(row);
  }
  json["absent"] = Json::array();
  for (const Absent& row : absent) {
    json["absent"].push_back({{"name", row.name}, {"reason", row.reason}});
  }
  return json.dump(2) + "\n";
}

std::string AsTable(const std::vector<Absent>& absent) {
  size_t width = 7;  // "backend"
  for (const Backend& backend : Backends()) width = std::max(width, backend.name.size());
  for (const Absent& row : absent) width = std::max(width, row.name.size());
  std::string text =
      fmt::format("{:<{}}  {:<5}  {:>5}  operations\n", "backend", width, "dtype", "lanes");
  for (const Backend& backend : Backends()) {
    std::string name = backend.name;
    for (const DType dtype : kTypes) {
      if (backend.Lanes(dtype) == 0) continue;
      std::string operations;
      for (const std::string& operation : Operations(backend, dtype)) {
        operations += (operations.empty() ? "" : ", ") + operation;
      }
      text += fmt::format("{:<{}}  {:<5}  {:>5}  {}\n", name, width, Name(dtype),
                          backend.Lanes(dtype), operations);
      name.clear();
    }
  }
  text += "\nabsent\n";
  for (const Absent& row : absent) text += fmt::format("{:<{}}  {}\n", row.name, width, row.reason);
  return text + fmt::format("\ndefault: {}\n", DefaultBackend().name);
}

}  // namespace

Result<const Backend*> NamedBackend(const std::string& name) {
  Result<const Backend*> found = FindBackend(name);
  if (found.ok()) return found;
  for (const Absent& row : AbsentBackends()) {
    if (row.name == name) return InvalidArgument(row.name, ": ", row.reason);
  }
  return found;
}

int RunBackends(bool json) {
  const std::vector<Absent> absent = AbsentBackends();
  const Status written = WriteStandardOutput(json ? AsJson(absent) : AsTable(absent));
  return written.ok() ? 0 : Complain(written.message());
}

}  // namespace attn::cli
