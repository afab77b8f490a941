// SPDX-License-Identifier: Apache-2.0
#include "cli/json_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

namespace attn::cli {
namespace {

// A case of that size is no case, and a device such as /dev/zero has no end.
constexpr size_t kMaxBytes = size_t{256} << 20;

// Copying a value recurses. No field of a case needs more than six levels.
constexpr int kMaxDepth = 64;

Result<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return InvalidArgument("cannot be opened: ", std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > kMaxBytes) {
      return InvalidArgument("has more than ", static_cast<int64_t>(kMaxBytes),
                             " bytes, the most that are read");
    }
    text.append(buffer, n);
  }
  if (std::ferror(file.get())) return InvalidArgument("cannot be read: ", std::strerror(errno));
  return text;
}

// The parser keeps the last of two equal keys without a word: a case whose "scale" is given twice
// would be checked with one of them and look as if it had been checked with the other.
class DuplicateKeys {
 public:
  bool operator()(Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second && first_.empty()) first_ = Json(key).dump();
    }
    return true;
  }
  const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

// The library's message without its "[json.exception.parse_error.101] ".
std::string WithoutTag(std::string_view what) {
  const size_t end = what.find("] ");
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

}  // namespace

Result<Json> ReadJsonFile(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  // The parser takes one for the end of the text, and what follows for nothing.
  if (const size_t nul = text->find('\0'); nul != std::string::npos) {
    return InvalidArgument("has a NUL byte at byte ", static_cast<int64_t>(nul));
  }
  DuplicateKeys duplicates;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep && duplicates(event, parsed);
  };
  try {
    Json json = Json::parse(*text, watch);
    if (too_deep) return InvalidArgument("is nested more than ", kMaxDepth, " levels deep");
    if (!duplicates.first().empty()) {
      return InvalidArgument("the key ", duplicates.first(), " occurs twice in one object");
    }
    return json;
  } catch (const Json::exception& error) {
    return InvalidArgument(WithoutTag(error.what()));
  }
}

std::string_view KindOf(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return "a number";
  }
}

std::string Excerpt(const Json& json) {
  if (json.is_structured()) return std::string(KindOf(json));
  const std::string text = json.dump();
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

}  // namespace attn::cli
