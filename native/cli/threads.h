// SPDX-License-Identifier: Apache-2.0
// Threads of this program; under Node there is one.
#ifndef ATTN_NATIVE_CLI_THREADS_H_
#define ATTN_NATIVE_CLI_THREADS_H_

#include <cstdint>

#include "attn/backend.h"
#include "attn/status.h"

namespace attn::cli {

extern const bool kHaveThreads;
constexpr int64_t kMostThreads = 1024;

// The backend on so many threads, which are kept for the next call. 1: the calling thread alone.
// Errors: kOutOfMemory when the system gives no more threads.
Result<const Backend*> OnThreads(const Backend& backend, int64_t threads);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_THREADS_H_
