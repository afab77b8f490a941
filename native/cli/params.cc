// SPDX-License-Identifier: Apache-2.0
#include "cli/params.h"

#include <algorithm>
#include <cmath>

#include "cli/operation.h"
#include "cli/threads.h"

namespace attn::cli {
namespace {

constexpr std::string_view kLists[] = {"chunk_sizes", "kv_splits", "kv_tile", "threads"};

// Enough for any race to show, and a case that is mistyped still ends.
constexpr int64_t kMaxRepeat = 1'000'000;

Status Needed(const char* key, const Json& value, std::string_view what) {
  return InvalidArgument("params.", key, " is ", Excerpt(value), ", needed is ", what);
}

bool IsInteger(const Json& value) {
  if (!value.is_number_unsigned()) return value.is_number_integer();
  return value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

Status CheckThreads(const Json& list) {
  for (const Json& value : list) {
    if (value.get<int64_t>() > kMostThreads) {
      return Needed("threads", value, Message("1 to ", kMostThreads));
    }
  }
  return {};
}

bool IsPositiveInteger(const Json& value) { return IsInteger(value) && value.get<int64_t>() > 0; }

}  // namespace

Status ReadNumber(const Json& params, const char* key, std::optional<double>& out) {
  if (!params.contains(key)) return {};
  if (!params[key].is_number()) return Needed(key, params[key], "a number");
  out = params[key].get<double>();
  return {};
}

Status ReadInteger(const Json& params, const char* key, std::optional<int64_t>& out) {
  if (!params.contains(key)) return {};
  if (!IsInteger(params[key])) return Needed(key, params[key], "a 64-bit integer");
  out = params[key].get<int64_t>();
  return {};
}

Status ReadBoolean(const Json& params, const char* key, bool& out) {
  if (!params.contains(key)) return {};
  if (!params[key].is_boolean()) return Needed(key, params[key], "true or false");
  out = params[key].get<bool>();
  return {};
}

Status ReadChoice(const Json& params, const char* key, const Names& names, size_t& out) {
  if (!params.contains(key)) return {};
  const Json& value = params[key];
  const auto same = [&](std::string_view name) { return value.is_string() && value == name; };
  const auto found = std::ranges::find_if(names, same);
  if (found == names.end()) return Needed(key, value, "one of " + Join(names));
  out = static_cast<size_t>(found - names.begin());
  return {};
}

bool IsListOrRepeat(std::string_view key) {
  return key == "repeat" || std::ranges::find(kLists, key) != std::end(kLists);
}

Status ReadLists(const Json& params, const Names& meant, Case& out) {
  std::optional<int64_t> repeat;
  ATTN_RETURN_IF_ERROR(ReadInteger(params, "repeat", repeat));
  if (repeat && (*repeat < 1 || *repeat > kMaxRepeat)) {
    return Needed("repeat", params["repeat"], Message("1 to ", kMaxRepeat));
  }
  out.repeat = std::max(out.repeat, repeat.value_or(1));
  for (const std::string_view key : kLists) {
    if (!params.contains(key)) continue;
    const std::string name(key);
    const Json& list = params[name];
    if (!list.is_array() || list.empty()) {
      return Needed(name.c_str(), list, "a list of positive integers");
    }
    for (const Json& value : list) {
      if (!IsPositiveInteger(value)) return Needed(name.c_str(), value, "positive integers");
    }
    if (key == "threads" && Contains(meant, key)) {
      ATTN_RETURN_IF_ERROR(CheckThreads(list));
      if (kHaveThreads) {
        out.threads = list.get<std::vector<int64_t>>();
        continue;
      }
    }
    if (key == "kv_splits" && Contains(meant, key)) {
      out.kv_splits = list.get<std::vector<int64_t>>();
      continue;
    }
    out.idle_lists.push_back(key);
  }
  return {};
}

}  // namespace attn::cli
