// SPDX-License-Identifier: Apache-2.0
// Items of work, on the executor of a backend where it has one.
#ifndef ATTN_DRIVERS_PARALLEL_H_
#define ATTN_DRIVERS_PARALLEL_H_

#include <cstdint>

#include "attn/backend.h"
#include "attn/executor.h"
#include "drivers/page_only.h"
#include "drivers/scratch.h"

namespace attn {

inline bool HasExecutor(const Backend& backend) {
  return !kPageOnly && backend.executor != nullptr;
}

// Calls body(item, worker) for each 0 <= item < items; bodies must not write the same places.
// `work`: operations of all items together, about.
template <class Body>
void ForEachItem(const Backend& backend, int64_t items, double work, const Body& body) {
  if (!HasExecutor(backend) || items < 2 || work < backend.executor->WorthWaking()) {
    for (int64_t item = 0; item < items; ++item) body(item, int64_t{0});
    return;
  }
  const auto call = [](const void* context, int64_t item, int64_t worker) {
    (*static_cast<const Body*>(context))(item, worker);
  };
  backend.executor->Run(items, call, &body);
}

// Scratch for each worker, taken before anything is written, so that a call which lacks memory
// leaves its outputs as they were.
template <class T>
class WorkerScratch {
 public:
  WorkerScratch(const Backend& backend, int64_t elements)
      : elements_(Padded(elements)),
        scratch_(Total(elements_, HasExecutor(backend) ? backend.executor->workers() : 1)) {}

  bool ok() const { return scratch_.ok(); }
  T* of(int64_t worker) const { return scratch_.data() + worker * elements_; }

 private:
  // Whole cache lines.
  static int64_t Padded(int64_t elements) {
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    return elements > INT64_MAX - kLine ? elements : (elements + kLine - 1) / kLine * kLine;
  }
  static int64_t Total(int64_t elements, int64_t workers) {
    int64_t total = 0;
    return __builtin_mul_overflow(elements, workers, &total) ? -1 : total;
  }

  int64_t elements_;
  Scratch<T> scratch_;
};

}  // namespace attn

#endif  // ATTN_DRIVERS_PARALLEL_H_
