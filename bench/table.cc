// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report.h"

namespace attn::bench {
namespace {

using Cells = std::vector<std::string>;

// Columns as wide as their widest cell; the first `left` of them are texts, the others numbers.
std::string Align(const std::vector<Cells>& lines, size_t left) {
  std::vector<size_t> widths;
  for (const Cells& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Cells& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) {
      if (i > 0) row += "  ";
      row += i < left ? fmt::format("{:<{}}", line[i], widths[i])
                      : fmt::format("{:>{}}", line[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

// 4 significant digits: more than the noise leaves.
std::string Number(double x) { return fmt::format("{:.4g}", x); }
std::string Number(const std::optional<double>& x, double factor, int digits) {
  return x ? fmt::format("{:.{}f}", *x * factor, digits) : "-";
}

std::string Size(int64_t bytes) {
  if (bytes >= 1024 * 1024) return fmt::format("{} MiB", bytes / (1024 * 1024));
  return fmt::format("{} KiB", bytes / 1024);
}

constexpr const char* kLegend = R"(
ms, p20, p80: wall time of a call; n samples. % cpu: CPU time over wall time: below 100 another
program had the core meanwhile. All rates are of CPU time.
x2: on 2 threads, whose rates are of wall time and whose peak is twice that of one.
GFLOP/s: {}.
peak, % peak: of the row's instruction set, just before and after each sample.
GB/s: {}.
% read, x roof: of a buffer of this size; time over max(FLOP / peak, bytes / read rate).
max abs, max rel (over the largest value), LSE: of sampled rows against f64; bad: not finite.
)";

std::string Header(const Run& run) {
  const Environment& e = run.environment;
  std::string text = fmt::format("attn bench, {}, commit {}\n", e.date, e.commit);
  text +=
      fmt::format("{}, {} CPUs, {}; {}; {}\n", e.cpu_model, e.cpus, e.engine, e.compiler, e.flags);
  if (e.build_type != "release") text += "This is a debug build: its timings mean little.\n";
  if (run.large_pages) text += "Tensors and read buffers on pages of 2 MiB.\n";
  text += "\nMeasured in this run, peak and read rate on one thread:\n";
  std::vector<Cells> lines;
  for (const PeakSampler& sampler : run.samplers.all()) {
    if (!sampler.ok() || sampler.samples().empty()) continue;
    const Summary s = Summarize(sampler.samples());
    lines.push_back(
        {"  peak", std::string(sampler.isa().text), std::string(Name(sampler.dtype())),
         std::string(sampler.loop_name()), fmt::format("{:.1f} GFLOP/s", s.median / 1e9),
         fmt::format("p20 {:.1f}, p80 {:.1f}, {} samples", s.p20 / 1e9, s.p80 / 1e9, s.count)});
  }
  for (const Bandwidth& b : run.bandwidth) {
    lines.push_back({"  read", Size(b.bytes), "", "", fmt::format("{:.1f} GB/s", b.rate / 1e9),
                     fmt::format("median of {} passes", b.passes)});
  }
  return text + Align(lines, 4) + "\n";
}

std::string Kind(const Row& row) {
  return fmt::format("{} {}{}", Name(row.dtype),
                     row.neighbour()  ? NeighbourName(row.op)
                     : row.backward() ? "backward"
                                      : FormName(row.op),
                     row.threads == 1 ? "" : fmt::format(" x{}", row.threads));
}

Cells RowCells(size_t index, const RowResult& r, const Run& run) {
  const Figures f = FiguresOf(r, run.bandwidth);
  return {std::to_string(index),
          r.row.backend->name,
          Text(r.row.shape),
          Kind(r.row),
          Number(f.seconds.median * 1e3),
          Number(f.seconds.p20 * 1e3),
          Number(f.seconds.p80 * 1e3),
          std::to_string(f.seconds.count),
          fmt::format("{:.0f}", f.cpu_seconds / f.seconds.median * 100),
          Number(f.flop_rate / 1e9),
          Number(f.peak, 1e-9, 1),
          Number(f.peak_fraction, 100, 1),
          Number(f.byte_rate / 1e9),
          Number(f.bandwidth_fraction, 100, 1),
          Number(f.roofline_ratio, 1, 2),
          Size(r.scratch_bytes),
          fmt::format("{:.1e}", r.errors.max_abs),
          fmt::format("{:.1e}", r.errors.max_rel),
          fmt::format("{:.1e}", r.errors.max_lse),
          std::to_string(r.errors.non_finite)};
}

}  // namespace

std::string TableText(const Run& run) {
  std::string text = Header(run);
  std::vector<Cells> lines = {{"#",       "backend", "shape",   "type",   "ms",
                               "p20",     "p80",     "n",       "% cpu",  "GFLOP/s",
                               "peak",    "% peak",  "GB/s",    "% read", "x roof",
                               "scratch", "max abs", "max rel", "LSE",    "bad"}};
  std::string failures, commands;
  for (size_t i = 0; i < run.results.size(); ++i) {
    const RowResult& r = run.results[i];
    if (r.failure.empty()) {
      lines.push_back(RowCells(i + 1, r, run));
    } else {
      lines.push_back(
          {std::to_string(i + 1), r.row.backend->name, Text(r.row.shape), Kind(r.row), "void"});
      failures += fmt::format("void: {}: {}\n", r.row.Name(), r.failure);
    }
    commands += fmt::format("  {:>2}  {}\n", i + 1, r.row.Command(run.options));
  }
  text += Align(lines, 4);
  text += fmt::format(kLegend, kFlopRule, kByteRule);
  text += "\nEach row alone:\n" + commands;
  for (const SkippedRow& s : run.skipped) {
    text += fmt::format("skipped: {}: {}\n", s.name, s.reason);
  }
  if (run.interrupted) text += "interrupted: the rows above have what was measured until then\n";
  return text + failures;
}

}  // namespace attn::bench
