// SPDX-License-Identifier: Apache-2.0
// {context, benchmarks[]} with Google Benchmark's keys, so that its tools (compare.py) read it, and
// ours beside them. Times are in nanoseconds, rates of CPU time. Figures that were not measured are
// absent, not 0.
#include <cmath>

#include "bench/report.h"

namespace attn::bench {
namespace {

using Object = nlohmann::ordered_json;

void Put(Object& object, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[key] = *value;
}

Object Context(const Run& run) {
  const Environment& e = run.environment;
  Object context = {{"date", e.date},
                    {"executable", run.options.program},
                    {"num_cpus", e.cpus},
                    {"library_build_type", e.build_type},
                    {"cpu_model", e.cpu_model},
                    {"engine", e.engine},
                    {"compiler", e.compiler},
                    {"flags", e.flags},
                    {"commit", e.commit},
                    {"large_pages", run.large_pages},
                    {"flop_rule", kFlopRule},
                    {"byte_rule", kByteRule},
                    {"interrupted", run.interrupted}};
  context["caches"] = Object::array();
  for (const Cache& c : e.caches) {
    context["caches"].push_back(
        {{"type", c.type}, {"level", c.level}, {"size", c.bytes}, {"num_sharing", c.sharing}});
  }
  context["load_avg"] = e.load_average;
  context["isas"] = Object::array();
  for (const Isa& isa : Isas()) context["isas"].push_back(isa.name);
  context["peaks"] = Object::array();
  for (const PeakSampler& sampler : run.samplers.all()) {
    if (!sampler.ok() || sampler.samples().empty()) continue;
    const Summary s = Summarize(sampler.samples());
    context["peaks"].push_back({{"isa", sampler.isa().name},
                                {"dtype", Name(sampler.dtype())},
                                {"loop", sampler.loop_name()},
                                {"flops_per_second", s.median},
                                {"p20", s.p20},
                                {"p80", s.p80},
                                {"count", s.count}});
  }
  context["read_bandwidth"] = Object::array();
  for (const Bandwidth& b : run.bandwidth) {
    context["read_bandwidth"].push_back(
        {{"bytes", b.bytes}, {"bytes_per_second", b.rate}, {"count", b.passes}});
  }
  return context;
}

Object Benchmark(const RowResult& r, const Run& run, int64_t family, int64_t instance) {
  const std::string name = r.row.Name();
  Object row = {{"name", name},
                {"family_index", family},
                {"per_family_instance_index", instance},
                {"run_name", name},
                {"run_type", "iteration"},
                {"repetitions", 1},
                {"repetition_index", 0},
                {"threads", r.row.threads},
                {"op", r.row.OpName()},
                {"backend", r.row.backend->name},
                {"isa", r.row.isa == nullptr ? "unknown" : r.row.isa->name},
                {"shape", Text(r.row.shape)},
                {"dtype", Name(r.row.dtype)},
                {"mask", r.row.shape.causal.enabled ? "causal" : "none"},
                {"form", r.row.neighbour() ? "none" : FormName(r.row.op)},
                {"reproduce", r.row.Command(run.options)}};
  if (!r.failure.empty()) {
    row["error_occurred"] = true;
    row["error_message"] = r.failure;
    return row;
  }
  const Figures f = FiguresOf(r, run.bandwidth);
  row["iterations"] = r.calls;
  row["real_time"] = f.seconds.median * 1e9;
  row["cpu_time"] = f.cpu_seconds * 1e9;
  row["time_unit"] = "ns";
  row["p20"] = f.seconds.p20 * 1e9;
  row["p80"] = f.seconds.p80 * 1e9;
  row["count"] = f.seconds.count;
  row["flops"] = r.row.flops();
  row["flops_per_second"] = f.flop_rate;
  Put(row, "peak_flops_per_second", f.peak);
  Put(row, "peak_fraction", f.peak_fraction);
  row["bytes"] = r.row.bytes();
  row["bytes_per_second"] = f.byte_rate;
  Put(row, "bandwidth_bytes_per_second", f.bandwidth);
  Put(row, "bandwidth_fraction", f.bandwidth_fraction);
  if (f.roofline_seconds) row["roofline_time"] = *f.roofline_seconds * 1e9;
  Put(row, "roofline_ratio", f.roofline_ratio);
  row["scratch_bytes"] = r.scratch_bytes;
  row["max_abs_error"] = r.errors.max_abs;
  row["max_rel_error"] = r.errors.max_rel;
  row["lse_error"] = r.errors.max_lse;
  row["non_finite"] = r.errors.non_finite;
  row["checked_rows"] = r.errors.rows;
  row["tolerance"] = r.row.tolerance();
  row["samples"] = Object::array();
  for (const double s : r.seconds) row["samples"].push_back(std::round(s * 1e10) / 10);
  return row;
}

}  // namespace

nlohmann::ordered_json Json(const Run& run) {
  Object json = {{"context", Context(run)}, {"benchmarks", Object::array()}};
  int64_t family = -1, instance = 0;
  for (size_t i = 0; i < run.results.size(); ++i) {
    const RowResult& r = run.results[i];
    if (i == 0 || !r.row.SameProblem(run.results[i - 1].row)) {
      ++family;
      instance = 0;
    }
    json["benchmarks"].push_back(Benchmark(r, run, family, instance++));
  }
  json["skipped"] = Object::array();
  for (const SkippedRow& s : run.skipped) {
    json["skipped"].push_back({{"name", s.name}, {"reason", s.reason}});
  }
  return json;
}

}  // namespace attn::bench
