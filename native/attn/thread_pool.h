// SPDX-License-Identifier: Apache-2.0
// Threads that wait for work: the Executor of native programs.
#ifndef ATTN_THREAD_POOL_H_
#define ATTN_THREAD_POOL_H_

#include <cstdint>
#include <memory>

#include "attn/executor.h"
#include "attn/status.h"

namespace attn {

class ThreadPool final : public Executor {
 public:
  static constexpr int64_t kMostThreads = 1024;

  // `threads` counts the one that calls Run(), which works too; 0: one for each core that this
  // process may use. Errors: threads outside 0..kMostThreads; kOutOfMemory when the system gives no
  // more threads (those that it gave have ended).
  static Result<std::unique_ptr<ThreadPool>> Create(int64_t threads);

  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int64_t workers() const override;

  // About 50 microseconds: waking and waiting cost some ten, and two threads took three times as
  // long as one for 8 heads of 17 tokens.
  double WorthWaking() const override { return 5e6; }

  // Items go in ascending order to whoever is free. A call from inside an item runs its items one
  // after the other on that thread; calls from several threads wait for each other. In a child of
  // fork(), which has none of the threads, the caller runs all items.
  void Run(int64_t items, Task task, const void* context) const override;

 private:
  struct State;
  explicit ThreadPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Cores that this process may use, at least 1.
int64_t AvailableCores();

}  // namespace attn

#endif  // ATTN_THREAD_POOL_H_
