// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_BENCH_TIMER_H_
#define ATTN_BENCH_TIMER_H_

#include <chrono>

namespace attn::bench {

// Seconds of a clock that never goes back. Under Emscripten this is performance.now(), which in
// Node resolves nanoseconds; a browser rounds it to 5 us - 1 ms, so a sample lasts kMinSample.
inline double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A sample is as many calls as take this long: four decimal places above the cost of the clock.
inline constexpr double kMinSample = 2e-3;

// An engine runs WebAssembly unoptimised until its compiler, on a thread of its own, has better
// code: in Node a peak of 16 GFLOP/s instead of 39. Every loop is warmed up for half a second,
// though not longer than a row is measured.
inline double TierUpSeconds(double row_seconds) {
#if defined(__EMSCRIPTEN__)
  return row_seconds < 0.5 ? row_seconds : 0.5;
#else
  (void)row_seconds;
  return 0;
#endif
}

}  // namespace attn::bench

#endif  // ATTN_BENCH_TIMER_H_
