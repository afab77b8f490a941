// SPDX-License-Identifier: Apache-2.0
// JSON files, with errors that say where.
#ifndef ATTN_NATIVE_CLI_JSON_FILE_H_
#define ATTN_NATIVE_CLI_JSON_FILE_H_

#include <nlohmann/json.hpp>
#include <string>

#include "attn/status.h"

namespace attn::cli {

using Json = nlohmann::json;

// Errors: a file that cannot be read, text that is not JSON (with line and column), a number that
// does not fit a double, a key that occurs twice in one object.
Result<Json> ReadJsonFile(const std::string& path);

// "a list", "a number", ...: what a value is, for messages.
std::string_view KindOf(const Json& json);

// The value itself where it is short, for messages.
std::string Excerpt(const Json& json);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_JSON_FILE_H_
