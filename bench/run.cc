// SPDX-License-Identifier: Apache-2.0
#include "bench/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "bench/pages.h"
#include "bench/timer.h"

namespace attn::bench {
namespace {

constexpr double kBandwidthSeconds = 0.15;  // a size

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends the run after the call at hand; the second ends the program.
extern "C" void AttnBenchOnInterrupt(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
  constexpr std::string_view kText = "\nattn bench: ends after this call; Ctrl-C again: at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
}

// A line on the terminal, renewed four times a second.
class Progress {
 public:
  explicit Progress(size_t problems) : problems_(problems), shown_(StandardErrorIsTerminal()) {}
  ~Progress() {
    if (shown_) WriteProgress("");
  }

  // `left`: seconds of timed calls in this problem; `later`: in those that follow.
  void Show(size_t problem, const std::string& row, double left, double later) {
    if (!shown_ || Now() < next_) return;
    next_ = Now() + 0.25;
    WriteProgress(fmt::format("[{}/{}] {}  about {:.0f} s left", problem + 1, problems_, row,
                              (left + later) * kOverhead));
  }

 private:
  // Peaks, warm-up, checks: seen as wall time over timed time of a default run.
  static constexpr double kOverhead = 1.4;

  size_t problems_;
  bool shown_;
  double next_ = 0;
};

// Ends of the runs of rows that are one problem.
std::vector<std::span<const Row>> Problems(const std::vector<Row>& rows) {
  std::vector<std::span<const Row>> problems;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end].SameProblem(rows[begin])) ++end;
    problems.push_back(std::span(rows).subspan(begin, end - begin));
    begin = end;
  }
  return problems;
}

void PrintList(const Plan& plan) {
  for (const Row& row : plan.rows) fmt::print("{}\n", row.Name());
  for (const SkippedRow& s : plan.skipped) fmt::print("skipped: {}: {}\n", s.name, s.reason);
}

Run Measure(const Plan& plan, const BenchOptions& options, const std::function<bool()>& stop,
            std::span<const int64_t> read_sizes) {
  Run run;
  run.options = options;
  run.environment = ReadEnvironment();
  run.large_pages = Pages(1, !options.small_pages).large();
  run.skipped = plan.skipped;
  if (plan.rows.empty()) return run;
  if (!Isas().empty()) {
    run.bandwidth = MeasureBandwidth(Isas()[0], read_sizes, kBandwidthSeconds,
                                     TierUpSeconds(options.seconds), !options.small_pages);
  }
  const auto problems = Problems(plan.rows);
  Progress progress(problems.size());
  size_t rows_later = plan.rows.size();
  for (size_t p = 0; p < problems.size() && !stop(); ++p) {
    rows_later -= problems[p].size();
    const double later = static_cast<double>(rows_later) * options.seconds;
    const MeasureHooks hooks = {
        stop, [&](const Row& row, double left) { progress.Show(p, row.Name(), left, later); }};
    auto results = MeasureProblem(problems[p], options, run.samplers, hooks);
    if (results.ok()) {
      for (RowResult& result : *results) run.results.push_back(std::move(result));
      continue;
    }
    for (const Row& row : problems[p]) {
      run.skipped.push_back({row.Name(), results.status().message()});
    }
  }
  run.interrupted = stop();
  return run;
}

}  // namespace

Result<Run> MeasureAll(const BenchOptions& options, std::span<const Backend> backends,
                       const std::function<bool()>& stop, std::span<const int64_t> read_sizes) {
  const auto plan = MakePlan(options, backends);
  if (!plan.ok()) return plan.status();
  return Measure(*plan, options, stop, read_sizes);
}

int ExitCode(const Run& run) {
  for (const RowResult& result : run.results) {
    if (!result.failure.empty()) return 1;
  }
  return run.interrupted ? 130 : 0;
}

int RunBench(const BenchOptions& options) {
  const auto plan = MakePlan(options, Backends());
  if (!plan.ok()) {
    fmt::print(stderr, "attn bench: {}\n", plan.status().message());
    return 2;
  }
  if (options.list) {
    PrintList(*plan);
    return 0;
  }
  if (plan->rows.empty()) {
    // MakePlan refuses options that fit no row, so one was skipped.
    const SkippedRow& first = plan->skipped.front();
    fmt::print(stderr, "attn bench: no row can be measured: {}: {}\n", first.name, first.reason);
    return 2;
  }
  interrupted = 0;
  const auto before = std::signal(SIGINT, AttnBenchOnInterrupt);
  const Run run = Measure(*plan, options, [] { return interrupted != 0; }, kReadSizes);
  std::signal(SIGINT, before);
  fmt::print("{}", options.json ? Json(run).dump(2) + "\n" : TableText(run));
  if (run.interrupted) fmt::print(stderr, "attn bench: interrupted, kept what was done\n");
  return ExitCode(run);
}

}  // namespace attn::bench
