// SPDX-License-Identifier: Apache-2.0
// The threads of the module with shared memory. JavaScript starts them: each is a worker with an
// instance of its own of the same module over the same memory, and so with the functions, the data
// and the heap of the first one; its stack and its thread-local variables are made here.
#include <atomic>
#include <cstdint>
#include <new>

#include "abi/abi.h"
#include "abi/threads.h"
#include "threads/rounds.h"

extern "C" {

void __wasm_init_tls(void* block);  // made by the linker

// Sleeps while *at is `old`, or returns at once (a page's main thread must not sleep). JavaScript's
// and not memory.atomic.wait32: in V8 11.3 (Node 20) a loop around that goes on with another `old`
// once the optimising compiler has replaced some of the module, and waits for ever.
__attribute__((import_module("env"), import_name("wait"))) void attn_host_wait(int32_t* at,
                                                                               int32_t old);
}

namespace attn::abi {
namespace {

// As much as the first thread has (CMakeLists.txt).
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr std::align_val_t kAlignment{64};
// The wrapper's limit as well (threads.ts).
constexpr int32_t kMostThreads = 64;

std::atomic<bool> failed{false};

struct Sleep {
  static int32_t* Address(const std::atomic<uint32_t>& number) {
    return const_cast<int32_t*>(reinterpret_cast<const int32_t*>(&number));
  }
  static void Wait(const std::atomic<uint32_t>& number, uint32_t old) {
    while (number == old) attn_host_wait(Address(number), static_cast<int32_t>(old));
  }
  static void Wake(std::atomic<uint32_t>& number) {
    __builtin_wasm_memory_atomic_notify(Address(number), UINT32_MAX);
  }
};

struct Workers final : Executor {
  mutable Rounds<Sleep> rounds;
  uint32_t helpers = 0;  // changes before the first round only
  bool alone = false;

  int64_t workers() const override { return helpers + int64_t{1}; }
  // As native threads: waking takes some ten microseconds.
  double WorthWaking() const override { return 2e6; }
  void Run(int64_t items, Task task, const void* context) const override {
    if (rounds.RunInside(items, task, context)) return;
    rounds.Run(items, task, context, helpers);
    // What the helper had in hand is lost.
    if (failed) __builtin_trap();
  }
};

constinit Workers workers;

}  // namespace

const Executor* CurrentThreads() {
  return workers.helpers == 0 || workers.alone ? nullptr : &workers;
}

}  // namespace attn::abi

attn_status attn_set_threads(int32_t threads) {
  using namespace attn;
  using abi::workers;
  const int64_t all = workers.workers();
  if (threads != 0 && threads != 1 && threads != all) {
    return abi::Report(InvalidArgument("threads is ", int64_t{threads},
                                       ", needed is 0, 1 or all that were started, ", all));
  }
  workers.alone = threads == 1;
  return ATTN_OK;
}

extern "C" {

// The stack of one more worker ends where its thread-local variables begin: there. 0: no memory, or
// 64 threads already. Not after the first round.
ATTN_EXPORT void* attn_worker_create() {
  using namespace attn::abi;
  if (workers.workers() >= kMostThreads) return nullptr;
  void* const block =
      ::operator new(kStackBytes + __builtin_wasm_tls_size(), kAlignment, std::nothrow);
  if (block == nullptr) return nullptr;
  ++workers.helpers;
  return static_cast<char*>(block) + kStackBytes;
}

// On the worker, whose stack pointer is `block` already, before anything else.
ATTN_EXPORT void attn_worker_begin(void* block) { __wasm_init_tls(block); }

// Then again and again: one round of work after `seen` of them. (The loop is JavaScript's: a call
// that never returns is never replaced by faster code.)
ATTN_EXPORT void attn_worker_help(int32_t worker, uint32_t seen) {
  attn::abi::workers.rounds.Help(worker, seen);
}

// On a worker that trapped: the calling thread must not wait for it.
ATTN_EXPORT void attn_worker_failed() {
  attn::abi::failed = true;
  attn::abi::workers.rounds.Leave();
}

}  // extern "C"
