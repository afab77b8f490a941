// SPDX-License-Identifier: Apache-2.0
// How several threads do the items of one call; where they come from is another's business.
#ifndef ATTN_THREADS_ROUNDS_H_
#define ATTN_THREADS_ROUNDS_H_

#include <atomic>
#include <cstdint>

#include "attn/executor.h"

namespace attn {

// One call is a round. Rounds are numbered: one begins when `round` rises and is over when `busy`
// is 0; the job may change only in between. Waiting says how a thread sleeps until a number is
// another:
//   static void Wait(const std::atomic<uint32_t>&, uint32_t old)
//   static void Wake(std::atomic<uint32_t>&)  all who wait for it
template <class Waiting>
class Rounds {
 public:
  // By one thread at a time, which is worker 0, while `helpers` threads call Help() or will,
  // the same in every round.
  void Run(int64_t items, Executor::Task task, const void* context, uint32_t helpers) {
    job_ = {items, task, context};
    next_ = 0;
    busy_ = helpers;
    ++round_;
    Waiting::Wake(round_);
    const Working outer = working;
    Work(0);
    working = outer;
    for (uint32_t left = busy_; left != 0; left = busy_) Waiting::Wait(busy_, left);
  }

  // False: the caller is not in an item of this. Else its items were run, one after the other.
  bool RunInside(int64_t items, Executor::Task task, const void* context) const {
    if (working.at != this) return false;
    for (int64_t item = 0; item < items; ++item) task(context, item, working.as);
    return true;
  }

  // What a helper calls in a loop: works as `worker` in the next round after `seen` that it has
  // seen, 0 at first. False: Stop() was called.
  bool Help(int64_t worker, uint32_t seen) {
    Waiting::Wait(round_, seen);
    if (stop_) return false;
    Work(worker);
    Leave();
    return true;
  }

  // What Help() does at its end; also for a helper that cannot go on.
  void Leave() {
    if (busy_.fetch_sub(1) == 1) Waiting::Wake(busy_);
  }

  void Stop() {
    stop_ = true;
    ++round_;
    Waiting::Wake(round_);
  }

 private:
  struct Job {
    int64_t items = 0;
    Executor::Task task = nullptr;
    const void* context = nullptr;
  };
  // Of a thread: for whom it works just now, and as which worker.
  struct Working {
    const void* at = nullptr;
    int64_t as = 0;
  };
  static inline thread_local Working working;

  void Work(int64_t worker) {
    working = {this, worker};
    for (int64_t item = next_.fetch_add(1); item < job_.items; item = next_.fetch_add(1)) {
      job_.task(job_.context, item, worker);
    }
    working = {};
  }

  Job job_;
  std::atomic<int64_t> next_{0};   // item
  std::atomic<uint32_t> busy_{0};  // helpers that have not ended this round
  std::atomic<uint32_t> round_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace attn

#endif  // ATTN_THREADS_ROUNDS_H_
