// SPDX-License-Identifier: Apache-2.0
// The commands, each with what the command line gives it. All return the exit code: 0, 1 when
// something that was checked failed, 2 for bad usage or bad input.
#ifndef ATTN_NATIVE_CLI_COMMANDS_H_
#define ATTN_NATIVE_CLI_COMMANDS_H_

#include <optional>
#include <string>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"

namespace attn::cli {

struct CaseOptions {
  std::vector<std::string> files;  // eval takes one
  std::string backend;             // a name, "all" (check only), or empty: see ChooseBackend
  std::optional<DType> dtype;
};
int RunEval(const CaseOptions& options);
int RunCheck(const CaseOptions& options);

int RunBackends(bool json);

// The library's FindBackend; of a name that `attn backends` calls absent, the error says why.
Result<const Backend*> NamedBackend(const std::string& name);

struct DigestOptions {
  std::string backend;  // empty: each
  bool json = false;
};
int RunDigest(const DigestOptions& options);

struct ServeOptions {
  int port = 8080;   // 0: any free one
  std::string root;  // empty: ../page, seen from the program's folder
};
int RunServe(const ServeOptions& options);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_COMMANDS_H_
