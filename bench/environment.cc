// SPDX-License-Identifier: Apache-2.0
#include "bench/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "attn_bench_build.h"  // written by the build: ATTN_BENCH_FLAGS, ATTN_BENCH_COMMIT

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#else
#include <time.h>
#include <unistd.h>

#include <thread>
#endif

namespace attn::bench {

#if defined(__EMSCRIPTEN__)

// What Node tells; elsewhere (a browser) only the number of CPUs is known. `require` is what
// Emscripten's Node start-up defines.
// clang-format off
EM_JS_DEPS(attn_bench, "$stringToUTF8");
EM_JS(void, attn_bench_cpu_model, (char* text, int size), {
  const cpus = typeof require === 'function' && typeof process === 'object'
    ? require('os').cpus() : [];
  stringToUTF8(cpus.length ? cpus[0].model.trim() : 'unknown', text, size);
});
EM_JS(int, attn_bench_cpus, (), {
  if (typeof navigator === 'object' && navigator.hardwareConcurrency) {
    return navigator.hardwareConcurrency;
  }
  return typeof require === 'function' ? require('os').cpus().length : 1;
});
EM_JS(void, attn_bench_engine, (char* text, int size), {
  stringToUTF8(typeof process === 'object' && process.versions
    ? `Node ${process.versions.node}, V8 ${process.versions.v8}`
    : typeof navigator === 'object' ? navigator.userAgent : 'unknown', text, size);
});
EM_JS(double, attn_bench_memory, (), {
  return typeof require === 'function' ? require('os').totalmem() : 0;
});
EM_JS(double, attn_bench_cpu_seconds, (), {
  if (typeof process !== 'object' || !process.cpuUsage) return performance.now() / 1000;
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e6;
});
EM_JS(int, attn_bench_is_terminal, (), {
  return typeof process === 'object' && process.stderr && process.stderr.isTTY ? 1 : 0;
});
// clang-format on

namespace {

std::string TextOf(void (*write)(char* text, int size)) {
  char text[256] = "";
  write(text, sizeof text);
  return text;
}

void ReadSystem(Environment& environment) {
  environment.cpu_model = TextOf(attn_bench_cpu_model);
  environment.cpus = attn_bench_cpus();
  environment.engine = TextOf(attn_bench_engine);
}

}  // namespace

std::optional<int64_t> PhysicalMemory() {
  // A module addresses at most 4 GiB, whatever the machine has.
  constexpr double kAddressable = 0x1p32;
  const double bytes = attn_bench_memory();
  return static_cast<int64_t>(bytes > 0 && bytes < kAddressable ? bytes : kAddressable);
}

double CpuSeconds() { return attn_bench_cpu_seconds(); }

bool StandardErrorIsTerminal() { return attn_bench_is_terminal() != 0; }

#else

namespace {

std::string FirstLine(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// "32K", "480M" as Linux writes them.
int64_t CacheBytes(const std::string& text) {
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  return number * (*end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1);
}

// "0-1,4": how many numbers it names.
int64_t CountCpus(const std::string& text) {
  int64_t count = 0;
  const char* p = text.c_str();
  while (*p != '\0') {
    char* end = nullptr;
    const long first = std::strtol(p, &end, 10);
    if (end == p) break;
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    count += last - first + 1;
    p = *end == ',' ? end + 1 : end;
  }
  return count;
}

std::vector<Cache> Caches() {
  std::vector<Cache> caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string level = FirstLine(folder + "level");
    if (level.empty()) return caches;
    caches.push_back({std::atoi(level.c_str()), FirstLine(folder + "type"),
                      CacheBytes(FirstLine(folder + "size")),
                      CountCpus(FirstLine(folder + "shared_cpu_list"))});
  }
}

void ReadSystem(Environment& environment) {
  environment.cpu_model = CpuModel();
  environment.cpus = static_cast<int64_t>(std::thread::hardware_concurrency());
  environment.engine = "native";
  environment.caches = Caches();
  double load[3];
  const int count = getloadavg(load, 3);
  if (count > 0) environment.load_average.assign(load, load + count);
}

}  // namespace

std::optional<int64_t> PhysicalMemory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return pages * page;
}

double CpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

bool StandardErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

#endif

Environment ReadEnvironment() {
  Environment environment = {};
  environment.date = fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(std::time(nullptr)));
#if defined(__clang__)
  environment.compiler = "clang " __clang_version__;
#else
  environment.compiler = "g++ " __VERSION__;
#endif
  while (environment.compiler.ends_with(' ')) environment.compiler.pop_back();
  environment.flags = ATTN_BENCH_FLAGS + VariantFlags();
#if defined(NDEBUG)
  environment.build_type = "release";
#else
  environment.build_type = "debug";
#endif
  environment.commit = ATTN_BENCH_COMMIT;
  ReadSystem(environment);
  return environment;
}

void WriteProgress(const std::string& text) {
  // \r to the beginning, \x1b[K removes what is left of the longer line before.
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
}

}  // namespace attn::bench
