// SPDX-License-Identifier: Apache-2.0
// What attention allocates: counted, natively. A sanitizer counts for itself, and WebAssembly has
// one thread and one heap (tests/js looks at that).
#if !defined(__EMSCRIPTEN__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTN_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef ATTN_COUNTS_ALLOCATIONS
#define ATTN_COUNTS_ALLOCATIONS 1
#endif
#endif

#if ATTN_COUNTS_ALLOCATIONS
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "attention_problem.h"

namespace {

std::atomic<int64_t> allocated{0}, allocations{0};

}  // namespace

// The form in which the library asks for scratch; the matching delete frees what aligned_alloc
// gave.
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  allocated += static_cast<int64_t>(bytes);
  ++allocations;
  const size_t line = static_cast<size_t>(alignment);
  return std::aligned_alloc(line, (bytes + line - 1) / line * line);
}

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

struct Count {
  int64_t bytes = 0, calls = 0;
  bool operator==(const Count&) const = default;
};

// Of one call, on a thread that has made none.
template <class Call>
Count Allocates(Call call) {
  Count count;
  std::thread([&] {
    const int64_t bytes = allocated, calls = allocations;
    call();
    count = {allocated - bytes, allocations - calls};
  }).join();
  return count;
}

TEST_CASE("what forward and backward allocate does not grow with the sequence") {
  const Backend& backend = DefaultBackend();
  Count forward[2], backward[2], again[2];
  const int64_t lengths[] = {1024, 8192};
  for (int i = 0; i < 2; ++i) {
    const Sizes sizes = {.heads = 1, .kv_heads = 1, .queries = lengths[i], .keys = lengths[i]};
    Problem<float> p(sizes);
    p.Fill(5);
    const Tensor<float, 4> d_o(p.o.view().shape), dq(p.q.view().shape), dk(p.k.view().shape),
        dv(p.v.view().shape);
    d_o.Fill(1.0f);
    Status status[3];
    const auto run_backward = [&] {
      return AttentionBackward<float>(backend, p.inputs(), Causal(), {p.o, p.lse, d_o, {}},
                                      {dq, dk, dv});
    };
    forward[i] = Allocates([&] { status[0] = p.Forward(backend, Causal()); });
    backward[i] = Allocates([&] { status[1] = run_backward(); });
    again[i] = Allocates([&] {
      status[2] = run_backward();
      for (int n = 0; n < 5 && status[2].ok(); ++n) status[2] = run_backward();
    });
    for (const Status& s : status) REQUIRE_MESSAGE(s.ok(), s.message());
    MESSAGE("n = ", lengths[i], ": forward ", forward[i].bytes, " bytes, backward ",
            backward[i].bytes, " bytes");
  }
  CHECK(forward[0].calls == 1);
  CHECK(forward[0] == forward[1]);
  CHECK(backward[0].calls == 1);
  CHECK(backward[0] == backward[1]);
  // Six calls of one thread are one allocation.
  CHECK(again[0] == backward[0]);
  CHECK(again[1] == backward[1]);
}

}  // namespace
}  // namespace attn
#endif  // ATTN_COUNTS_ALLOCATIONS
