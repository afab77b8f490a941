// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "bench/environment.h"

namespace attn::bench {

#if defined(__wasm_relaxed_simd__)
std::string ProgramName() {
  return "node --experimental-wasm-relaxed-simd build/bin/attn_relaxed.mjs";
}
std::string VariantFlags() { return " -mrelaxed-simd"; }
#elif defined(__EMSCRIPTEN__)
std::string ProgramName() { return "node build/bin/attn.mjs"; }
std::string VariantFlags() { return ""; }
#else
std::string ProgramName() { return "build/bin/attn"; }
std::string VariantFlags() { return ""; }
#endif

}  // namespace attn::bench
