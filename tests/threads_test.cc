// SPDX-License-Identifier: Apache-2.0
// Threads change the time, never the bits. Natively a pool does the work too; everywhere an
// executor that turns the order of the items around.
#include <atomic>
#include <memory>

#include "attention_problem.h"
#include "executors.h"

#if !defined(__EMSCRIPTEN__)
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "attn/thread_pool.h"
#endif

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

// O, LSE and all gradients of a problem with grouped heads, sinks and a mask that cuts tiles.
std::vector<double> Everything(const Backend& backend, int64_t queries) {
  Problem<float> p(
      {.batch = 2, .heads = 6, .kv_heads = 3, .queries = queries, .keys = 301, .d = 24, .dv = 40});
  p.Fill(11);
  const std::vector<float> sinks = {0.5f, -1, 2, 0, -3, 1};
  AttentionInputs<float> in = p.inputs();
  in.sinks = View<const float, 1>(sinks.data(), {6});
  REQUIRE(AttentionForward<float>(backend, in, Causal(), {p.o, p.lse}).ok());
  const Tensor<float, 4> dq(p.q.view().shape), dk(p.k.view().shape), dv(p.v.view().shape);
  const Tensor<float, 1> d_sinks({6});
  REQUIRE(AttentionBackward<float>(backend, in, Causal(), {p.o, p.lse, p.o, p.lse},
                                   {dq, dk, dv, d_sinks})
              .ok());
  std::vector<double> all = p.o.Values();
  for (const auto& part :
       {p.lse.Values(), dq.Values(), dk.Values(), dv.Values(), d_sinks.Values()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST_CASE("forward and backward give the same bits in any order of their items") {
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    for (const int64_t queries : {3, 300}) {
      const std::vector<double> want = Everything(backend, queries);
      for (const int64_t workers : {2, 5}) {
        const Backwards backwards(workers);
        CHECK(Everything(backend.On(backwards), queries) == want);
        CHECK(backwards.runs >= 2);
      }
    }
  }
}

#if !defined(__EMSCRIPTEN__)

TEST_CASE("forward and backward give the same bits on 1 to 4 threads, run after run") {
  const bool full = testing::effort == testing::Effort::kFull;
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const bool slow = &backend == &ReferenceBackend();
    if (slow && !full) continue;
    const int runs = full && !slow ? 50 : 2;
    for (const int64_t queries : {3, 300}) {
      const std::vector<double> want = Everything(backend, queries);
      for (int64_t threads = 1; threads <= 4; ++threads) {
        CAPTURE(threads);
        const auto pool = ThreadPool::Create(threads);
        REQUIRE(pool.ok());
        for (int run = 0; run < runs; ++run) {
          CHECK(Everything(backend.On(**pool), queries) == want);
        }
      }
    }
  }
}

TEST_CASE("a pool calls each item once, and no worker twice at a time") {
  for (const int64_t threads : {1, 2, 4, 9}) {
    CAPTURE(threads);
    const auto pool = ThreadPool::Create(threads);
    REQUIRE(pool.ok());
    REQUIRE((*pool)->workers() == threads);
    for (const int64_t items : {0, 1, 2, 1000}) {
      CAPTURE(items);
      struct Seen {
        std::vector<std::atomic<int>> calls, busy;
        std::atomic<int> clashes{0};
        Seen(int64_t n, int64_t workers)
            : calls(static_cast<size_t>(n)), busy(static_cast<size_t>(workers)) {}
      } seen(items, threads);
      (*pool)->Run(
          items,
          [](const void* context, int64_t item, int64_t worker) {
            Seen& at = *static_cast<Seen*>(const_cast<void*>(context));
            if (at.busy[static_cast<size_t>(worker)]++ != 0) ++at.clashes;
            ++at.calls[static_cast<size_t>(item)];
            --at.busy[static_cast<size_t>(worker)];
          },
          &seen);
      bool once = true;
      for (const auto& calls : seen.calls) once = once && calls == 1;
      CHECK(once);
      CHECK(seen.clashes == 0);
    }
  }
}

TEST_CASE("a pool serves several callers, and an item that runs items") {
  const auto pool = ThreadPool::Create(3);
  REQUIRE(pool.ok());
  struct Context {
    const ThreadPool* pool;
    std::atomic<int64_t> sum{0};
  } context{pool->get()};
  const auto inner = [](const void* c, int64_t item, int64_t) {
    static_cast<Context*>(const_cast<void*>(c))->sum += item;
  };
  static constexpr Executor::Task kInner = inner;
  const auto outer = [](const void* c, int64_t, int64_t) {
    static_cast<const Context*>(c)->pool->Run(10, kInner, c);  // 45
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] { context.pool->Run(20, outer, &context); });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(context.sum == 4 * 20 * 45);
}

// Python's multiprocessing forks; a child has the pool's memory and none of its threads.
TEST_CASE("a pool of several threads works in a child of fork, and can be ended there") {
  auto pool = ThreadPool::Create(4);
  REQUIRE(pool.ok());
  static constexpr Executor::Task kAdd = [](const void* sum, int64_t item, int64_t) {
    *static_cast<std::atomic<int64_t>*>(const_cast<void*>(sum)) += item;
  };
  std::atomic<int64_t> sum{0};
  (*pool)->Run(10, kAdd, &sum);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);  // a hang is a signal, and that a failure
    (*pool)->Run(10, kAdd, &sum);
    pool->reset();
    _exit(sum == 90 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  (*pool)->Run(10, kAdd, &sum);
  CHECK(sum == 90);
}

TEST_CASE("a pool says how many threads it can have") {
  CHECK(ThreadPool::Create(-1).status().message() ==
        "threads is -1, needed is 0 (all cores) to 1024");
  CHECK(ThreadPool::Create(1025).status().message() ==
        "threads is 1025, needed is 0 (all cores) to 1024");
  const auto pool = ThreadPool::Create(0);
  REQUIRE(pool.ok());
  CHECK((*pool)->workers() == AvailableCores());
}

#endif  // !defined(__EMSCRIPTEN__)

}  // namespace
}  // namespace attn
