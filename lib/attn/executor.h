// SPDX-License-Identifier: Apache-2.0
// Where a call may spread its work. The library has no threads of its own: a program hands it some,
// its own pool or native/threads/thread_pool.h.
#ifndef ATTN_EXECUTOR_H_
#define ATTN_EXECUTOR_H_

#include <cstdint>

namespace attn {

// What a call splits into items, and how, depends on the problem alone, and partial results merge
// in a fixed order: so the same bits come out of any executor and of none.
class Executor {
 public:
  // `worker` says which scratch the item may use.
  using Task = void (*)(const void* context, int64_t item, int64_t worker);

  virtual ~Executor() = default;

  // At least 1.
  virtual int64_t workers() const = 0;

  // Below so many operations (additions and multiplications, about) a call does all by itself.
  virtual double WorthWaking() const { return 0; }

  // Calls task(context, item, worker) once for each 0 <= item < items, in any order, on any
  // threads, with 0 <= worker < workers() and never two calls at a time with the same worker;
  // returns when all have returned. May be called from several threads.
  virtual void Run(int64_t items, Task task, const void* context) const = 0;
};

}  // namespace attn

#endif  // ATTN_EXECUTOR_H_
