// SPDX-License-Identifier: Apache-2.0
// The params of a case, read as what they have to be. An absent one leaves `out` as it is; errors
// name the param and its value.
#ifndef ATTN_NATIVE_CLI_PARAMS_H_
#define ATTN_NATIVE_CLI_PARAMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "attn/status.h"
#include "cli/case_file.h"
#include "cli/json_file.h"

namespace attn::cli {

Status ReadNumber(const Json& params, const char* key, std::optional<double>& out);
Status ReadInteger(const Json& params, const char* key, std::optional<int64_t>& out);
Status ReadBoolean(const Json& params, const char* key, bool& out);

// One of the names; `out` is its index.
Status ReadChoice(const Json& params, const char* key, const Names& names, size_t& out);

// Those that any operation may have: lists of positive integers for which the result must hold
// alike (chunk_sizes, kv_splits, kv_tile, threads), and repeat.
// `meant` are the lists whose values mean something to the operation.
bool IsListOrRepeat(std::string_view key);
Status ReadLists(const Json& params, const Names& meant, Case& out);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_PARAMS_H_
