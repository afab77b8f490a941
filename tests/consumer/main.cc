// SPDX-License-Identifier: Apache-2.0
// What a stranger does with the installed library, on every backend of this machine.
#include <cmath>
#include <cstdio>
#include <vector>

#include "attn/attention.h"
#include "attn/backend.h"

int main() {
  // Two keys with the same score: the output is the mean of their values, LSE log 2.
  const std::vector<float> q = {1, 2, 3}, k = {0, 0, 0, 0, 0, 0}, v = {2, 4, 6, 8};
  int failures = 0;
  for (const attn::Backend& backend : attn::Backends()) {
    std::vector<float> o(2), lse(1);
    const attn::Status status = attn::AttentionForward<float>(
        backend, {{q.data(), {1, 1, 1, 3}}, {k.data(), {1, 1, 2, 3}}, {v.data(), {1, 1, 2, 2}}}, {},
        {{o.data(), {1, 1, 1, 2}}, {lse.data(), {1, 1, 1}}});
    const bool right = status.ok() && std::abs(o[0] - 4) < 1e-5f && std::abs(o[1] - 6) < 1e-5f &&
                       std::abs(lse[0] - std::log(2.0f)) < 1e-5f;
    std::printf("%s %s: O = %g %g, LSE = %g %s\n", right ? "ok" : "FAIL", backend.name.c_str(),
                double{o[0]}, double{o[1]}, double{lse[0]}, status.message().c_str());
    failures += !right;
  }
  if (attn::FindBackend("abacus").ok()) {
    std::printf("FAIL: there is a backend \"abacus\"\n");
    ++failures;
  }
  return failures;
}
