// SPDX-License-Identifier: Apache-2.0
// The threads of attn_set_threads: a pool natively, workers of the page where the module's memory
// is shared, else the calling thread alone.
#ifndef ATTN_WASM_ABI_THREADS_H_
#define ATTN_WASM_ABI_THREADS_H_

#include <memory>

#include "attn/backend.h"

namespace attn::abi {

// Null: none beside the calling one.
#if !defined(__EMSCRIPTEN__)
// Whoever holds it may use it, also after another number is set.
std::shared_ptr<const Executor> CurrentThreads();
#elif defined(__EMSCRIPTEN_SHARED_MEMORY__)
const Executor* CurrentThreads();
#else
inline const Executor* CurrentThreads() { return nullptr; }
#endif

// run(backend), on the threads there are.
template <class Run>
Status OnThreads(const Backend& backend, Run run) {
  if (const auto threads = CurrentThreads()) return run(backend.On(*threads));
  return run(backend);
}

}  // namespace attn::abi

#endif  // ATTN_WASM_ABI_THREADS_H_
