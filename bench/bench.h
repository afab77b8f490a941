// SPDX-License-Identifier: Apache-2.0
// `attn bench`: how fast attention is on this machine, beside what the machine can do at
// all, measured in the same run. bench/README.md has the method.
#ifndef ATTN_BENCH_BENCH_H_
#define ATTN_BENCH_BENCH_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attn/backend.h"

namespace attn::bench {

// Where the build puts this program: build/bin/attn, or one of WebAssembly with what starts it.
std::string ProgramName();

// As the command line gives them; every list may be empty and then means its default.
struct BenchOptions {
  // "BxHxNxD" or "BxHqxHkxNxD", N and D each "a" or "a:b" (queries:keys, width:value width), with a
  // final "c" when causal. Default: 1x8x1024x64, 1x8x1024x128, both also causal;
  // operations beside attention have one of their own, the product's is BxHxM:NxK.
  std::vector<std::string> shapes;
  // Names of `Backends()` or their beginnings ("highway"). Default: all but the reference, which is
  // the slow oracle, and the portable one, which is made for its bits.
  std::vector<std::string> backends;
  // "forward", "backward", and beside attention "rms_norm", "rotary", "matmul". Default: forward.
  std::vector<std::string> ops;
  std::vector<std::string> dtypes;  // "f32", "f64", "bf16", "f16". Default: f32.
  std::vector<std::string>
      forms;                     // "flash", "explicit", "decode". Default: flash. Backward has one.
  std::vector<int64_t> threads;  // how many work on a call, each a row. Default: 1.
  // The backend on so many threads, which lives as long as the program; absent: there is one.
  std::function<Result<const Backend*>(const Backend&, int64_t)> on_threads;
  std::string filter;        // regular expression, searched for in a row's name
  double seconds = 1;        // timed calls of one row, at least
  bool small_pages = false;  // tensors on the system's usual pages, not on those of 2 MiB
  bool list = false;         // name the rows, measure nothing
  bool json = false;         // to standard output, instead of the table
  std::string program = ProgramName();  // how the lines that reproduce a row begin
};

// Prints to standard output, progress and errors to standard error. Returns the exit code: 0;
// 1 when a row failed its check (its timing is void); 2 for bad input, with nothing printed on
// standard output; 130 when interrupted by Ctrl-C, with what was done until then.
int RunBench(const BenchOptions& options);

}  // namespace attn::bench

#endif  // ATTN_BENCH_BENCH_H_
