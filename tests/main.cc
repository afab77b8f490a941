// SPDX-License-Identifier: Apache-2.0
// The one main of the suite, natively, under Node and in a browser. --full, or ATTN_FULL=1 in the
// environment, makes the random tests long, --brief short.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

#include "testing.h"

namespace attn::testing {
Effort effort = Effort::kNormal;
}

int main(int argc, char** argv) {
  using attn::testing::Effort;
  Effort& effort = attn::testing::effort;
  const char* full = std::getenv("ATTN_FULL");
  if (full != nullptr && std::string_view(full) == "1") effort = Effort::kFull;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--full") effort = Effort::kFull;
    if (std::string_view(argv[i]) == "--brief") effort = Effort::kBrief;
  }
  doctest::Context context;
#if defined(__EMSCRIPTEN__)
  // Every stream is a terminal to Emscripten's isatty, and what counts the cases reads plain text.
  context.setOption("no-colors", true);
#endif
  context.applyCommandLine(argc, argv);
  return context.run();
}
