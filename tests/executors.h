// SPDX-License-Identifier: Apache-2.0
// Executors that show whether a result depends on who does what when.
#ifndef ATTN_TESTS_EXECUTORS_H_
#define ATTN_TESTS_EXECUTORS_H_

#include <vector>

#include "attn/executor.h"

namespace attn::testing {

// One thread that does the last item first and pretends to be several workers in turn.
class Backwards final : public Executor {
 public:
  explicit Backwards(int64_t workers) : workers_(workers) {}

  int64_t workers() const override { return workers_; }
  void Run(int64_t items, Task task, const void* context) const override {
    ++runs;
    for (int64_t item = items; item-- > 0;) task(context, item, item % workers_);
  }

  mutable int64_t runs = 0;

 private:
  int64_t workers_;
};

}  // namespace attn::testing

#endif  // ATTN_TESTS_EXECUTORS_H_
