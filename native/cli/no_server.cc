// SPDX-License-Identifier: Apache-2.0
// The program for Node: WebAssembly has no sockets.
#include "cli/commands.h"
#include "cli/output.h"

namespace attn::cli {

int RunServe(const ServeOptions&) {
  return Complain("serve needs the native program: run build/bin/attn serve");
}

}  // namespace attn::cli
