// SPDX-License-Identifier: Apache-2.0
// The one main of the suite, natively, under Node and in a browser. --full makes the random tests
// long, --brief short.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#include "testing.h"

namespace attn::testing {
Effort effort = Effort::kNormal;
}

int main(int argc, char** argv) {
  using attn::testing::Effort;
  Effort& effort = attn::testing::effort;
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
