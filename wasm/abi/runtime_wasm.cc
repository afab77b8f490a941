// SPDX-License-Identifier: Apache-2.0
// What only the page's module needs: it imports nothing, so the host has nothing to provide.
#include <malloc.h>

#include <cstddef>

#include "attn.h"
#include "targets/targets.h"

// One lowering is enough for a page; the second opinion is in the tests and in attn.mjs. Likewise
// the portable kernels of f64.
std::span<const attn::Target> attn::XsimdTargets() { return {}; }
const attn::KernelTable<double>* attn::PortableF64() { return nullptr; }
attn::AttentionBF16 attn::DotProductsOfBF16() { return nullptr; }

extern "C" {

// Emscripten's standalone runtime tells the host when memory has grown. The wrapper looks at
// memory.buffer after each call instead.
void emscripten_notify_memory_growth(size_t) {}

// Bytes in use on the heap: tests see with it that nothing leaks.
ATTN_EXPORT size_t attn_heap_bytes() { return static_cast<size_t>(mallinfo().uordblks); }

// Which of the two modules this is.
ATTN_EXPORT int32_t attn_relaxed_simd() {
#if defined(__wasm_relaxed_simd__)
  return 1;
#else
  return 0;
#endif
}

}  // extern "C"
