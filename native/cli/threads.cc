// SPDX-License-Identifier: Apache-2.0
#include "cli/threads.h"

#include <map>
#include <memory>

#include "attn/thread_pool.h"

namespace attn::cli {

const bool kHaveThreads = true;
static_assert(kMostThreads == ThreadPool::kMostThreads);

Result<const Backend*> OnThreads(const Backend& backend, int64_t threads) {
  static std::map<int64_t, std::unique_ptr<ThreadPool>> pools;
  static std::map<std::pair<const Backend*, int64_t>, Backend> backends;
  if (threads == 1) return &backend;
  auto at = pools.find(threads);
  if (at == pools.end()) {
    auto pool = ThreadPool::Create(threads);
    if (!pool.ok()) return pool.status();
    at = pools.emplace(threads, std::move(*pool)).first;
  }
  return &backends.try_emplace({&backend, threads}, backend.On(*at->second)).first->second;
}

}  // namespace attn::cli
