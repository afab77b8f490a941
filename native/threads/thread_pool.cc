// SPDX-License-Identifier: Apache-2.0
#include "attn/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace attn {
namespace {

// Of this thread, where it works for a pool just now: that pool's State, and which worker it is.
thread_local const void* working_for = nullptr;
thread_local int64_t working_as = 0;

struct Job {
  int64_t items = 0;
  Executor::Task task = nullptr;
  const void* context = nullptr;
};

}  // namespace

// Rounds are numbered. A round begins when `round` rises and is over when `busy` is 0; the job may
// change only in between.
struct ThreadPool::State {
  std::vector<std::thread> threads;
  std::mutex callers;  // one round at a time
  Job job;
  std::atomic<int64_t> next{0};  // item
  std::atomic<int64_t> busy{0};  // threads that have not ended this round
  std::atomic<uint64_t> round{0};
  std::atomic<bool> stop{false};

  void Work(int64_t worker) {
    working_for = this, working_as = worker;
    for (int64_t item = next.fetch_add(1); item < job.items; item = next.fetch_add(1)) {
      job.task(job.context, item, worker);
    }
    working_for = nullptr;
  }

  void Loop(int64_t worker) {
    for (uint64_t seen = 0;; ++seen) {
      round.wait(seen);
      if (stop) return;
      Work(worker);
      if (busy.fetch_sub(1) == 1) busy.notify_one();
    }
  }

  void BeginRound() {
    ++round;
    round.notify_all();
  }

  ~State() {
    stop = true;
    BeginRound();
    for (std::thread& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadPool::~ThreadPool() = default;

Result<std::unique_ptr<ThreadPool>> ThreadPool::Create(int64_t threads) {
  if (threads < 0 || threads > kMostThreads) {
    return InvalidArgument("threads is ", threads, ", needed is 0 (all cores) to ", kMostThreads);
  }
  auto state = std::make_unique<State>();
  const int64_t count = threads == 0 ? AvailableCores() : threads;
  for (int64_t worker = 1; worker < count; ++worker) {
    try {
      state->threads.emplace_back([s = state.get(), worker] { s->Loop(worker); });
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
  if (working_for == &state) {
    for (int64_t item = 0; item < items; ++item) task(context, item, working_as);
    return;
  }
  const std::lock_guard lock(state.callers);
  state.job = {items, task, context};
  state.next = 0;
  state.busy = static_cast<int64_t>(state.threads.size());
  state.BeginRound();
  const void* const outer = working_for;
  const int64_t outer_worker = working_as;
  state.Work(0);
  working_for = outer, working_as = outer_worker;
  for (int64_t left = state.busy; left != 0; left = state.busy) state.busy.wait(left);
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
