// SPDX-License-Identifier: Apache-2.0
// attn_set_threads of native programs.
#include "abi/threads.h"

#include <mutex>

#include "abi/abi.h"
#include "attn/thread_pool.h"

namespace attn::abi {
namespace {

struct Holder {
  std::mutex mutex;
  std::shared_ptr<const ThreadPool> threads;
};

// Never destroyed: a call may still run on another thread while the process ends.
Holder& TheHolder() {
  static Holder& holder = *new Holder;
  return holder;
}

Status SetThreads(int32_t count) {
  std::shared_ptr<const ThreadPool> threads;
  if (count != 1) {
    auto made = ThreadPool::Create(count);
    if (!made.ok()) return made.status();
    threads = std::move(*made);
  }
  Holder& holder = TheHolder();
  // What was there ends after the lock is released.
  const std::lock_guard lock(holder.mutex);
  holder.threads.swap(threads);
  return {};
}

}  // namespace

std::shared_ptr<const Executor> CurrentThreads() {
  Holder& holder = TheHolder();
  const std::lock_guard lock(holder.mutex);
  return holder.threads;
}

}  // namespace attn::abi

attn_status attn_set_threads(int32_t threads) {
  return attn::abi::Report(attn::abi::SetThreads(threads));
}
