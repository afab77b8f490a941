// SPDX-License-Identifier: Apache-2.0
// Where a run took place, natively and under Node.
#ifndef ATTN_BENCH_ENVIRONMENT_H_
#define ATTN_BENCH_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::bench {

struct Cache {
  int level;
  std::string type;  // "Data", "Instruction", "Unified"
  int64_t bytes;
  int64_t sharing;  // logical CPUs that share it
};

struct Environment {
  std::string date;       // UTC, ISO 8601
  std::string cpu_model;  // "unknown" where the system does not tell
  int64_t cpus;           // logical ones that this process may use
  std::string engine;     // "native", or the names and versions of Node and V8
  std::string compiler;
  std::string flags;          // of the library: build type and options
  std::string build_type;     // "release" or "debug" (assertions)
  std::string commit;         // "unknown" outside a git checkout; ends with "-dirty" after changes
  std::vector<Cache> caches;  // of CPU 0, where the system tells
  std::vector<double> load_average;  // of 1, 5 and 15 minutes, where the system tells
};
Environment ReadEnvironment();

// What this program is compiled with beyond the build's flags: " -mrelaxed-simd" or nothing.
std::string VariantFlags();

// Bytes of memory of the machine, where the system tells.
std::optional<int64_t> PhysicalMemory();

// CPU seconds that this thread has used; under Node the whole process, whose other threads (V8's
// compiler and collector) are idle once a loop is warm; in a browser, which tells neither, Now().
double CpuSeconds();

// Progress goes to standard error, and only when a person looks at it.
bool StandardErrorIsTerminal();

// Replaces the line that it wrote before; an empty text removes it.
void WriteProgress(const std::string& text);

}  // namespace attn::bench

#endif  // ATTN_BENCH_ENVIRONMENT_H_
