// SPDX-License-Identifier: Apache-2.0
#include "attn/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "threads/rounds.h"

#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

namespace attn {
namespace {

struct Sleep {
  static void Wait(const std::atomic<uint32_t>& number, uint32_t old) { number.wait(old); }
  static void Wake(std::atomic<uint32_t>& number) { number.notify_all(); }
};

}  // namespace

struct ThreadPool::State {
  std::vector<std::thread> threads;
  std::mutex callers;  // one round at a time
  pid_t process = getpid();
  Rounds<Sleep> rounds;

  // A child of fork() has the memory and not the threads: whoever waited for them would wait for
  // ever.
  bool forked() const { return process != getpid(); }

  ~State() {
    rounds.Stop();
    for (std::thread& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadPool::~ThreadPool() {
  // Threads that are not there can be neither joined nor detached.
  if (state_->forked()) [[maybe_unused]]
    const State* left = state_.release();
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::Create(int64_t threads) {
  if (threads < 0 || threads > kMostThreads) {
    return InvalidArgument("threads is ", threads, ", needed is 0 (all cores) to ", kMostThreads);
  }
  auto state = std::make_unique<State>();
  const int64_t count = threads == 0 ? AvailableCores() : threads;
  for (int64_t worker = 1; worker < count; ++worker) {
    try {
      state->threads.emplace_back([s = state.get(), worker] {
        for (uint32_t seen = 0; s->rounds.Help(worker, seen); ++seen) {
        }
      });
    } catch (const std::system_error& error) {
      return Status(StatusCode::kOutOfMemory,
                    Message("thread ", worker + 1, " of ", count, ": ", error.what()));
    }
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(state)));
}

int64_t ThreadPool::workers() const { return static_cast<int64_t>(state_->threads.size()) + 1; }

void ThreadPool::Run(int64_t items, Task task, const void* context) const {
  State& state = *state_;
  if (state.rounds.RunInside(items, task, context)) return;
  if (state.forked()) {
    for (int64_t item = 0; item < items; ++item) task(context, item, 0);
    return;
  }
  const std::lock_guard lock(state.callers);
  state.rounds.Run(items, task, context, static_cast<uint32_t>(state.threads.size()));
}

int64_t AvailableCores() {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(CPU_COUNT(&set), 1);
#endif
  return std::max<int64_t>(std::thread::hardware_concurrency(), 1);
}

}  // namespace attn
