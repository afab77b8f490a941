// SPDX-License-Identifier: Apache-2.0
// The threads of attn_set_threads. WebAssembly has the calling one alone.
#ifndef ATTN_WASM_ABI_THREADS_H_
#define ATTN_WASM_ABI_THREADS_H_

#include <memory>

#include "attn/backend.h"

namespace attn::abi {

#if !defined(__EMSCRIPTEN__)
// Null: none beside the calling one. Whoever holds it may use it, also after another number is set.
std::shared_ptr<const Executor> CurrentThreads();
#endif

// run(backend), on the threads there are.
template <class Run>
Status OnThreads(const Backend& backend, Run run) {
#if !defined(__EMSCRIPTEN__)
  if (const auto threads = CurrentThreads()) return run(backend.On(*threads));
#endif
  return run(backend);
}

}  // namespace attn::abi

#endif  // ATTN_WASM_ABI_THREADS_H_
