// SPDX-License-Identifier: Apache-2.0
// A run of the harness: it believes no wrong kernel, and reports what it measured, no more.
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bench/check.h"
#include "bench/plan.h"
#include "bench/run.h"
#include "bench/shape.h"
#include "kernels/tasks.h"
#include "reference/kernels.h"

namespace attn::bench {
namespace {

// Wrong on purpose, each in its own way.
void OneElement(const AttentionTask<float>& task) {
  reference::AttentionForward(task);
  task.o[(task.queries - 1) * task.o_row] += 1e-3f;
}
void OneLse(const AttentionTask<float>& task) {
  reference::AttentionForward(task);
  task.lse[0] += 1e-3f;
}
void LastRowNotWritten(const AttentionTask<float>& task) {
  AttentionTask<float> part = task;
  part.query_end -= 1;
  reference::AttentionForward(part);
}
int calls = 0;
void NotWrittenLater(const AttentionTask<float>& task) {
  if (++calls < 20) reference::AttentionForward(task);
}

Backend Fake(const char* name, KernelTable<float>& table,
             void (*kernel)(const AttentionTask<float>&)) {
  table = reference::Table<float>();
  table.attention_flash = kernel;
  return {name, &table, nullptr};
}

constexpr int64_t kTwoReads[] = {32 << 10, 1 << 20};

BenchOptions Small() {
  BenchOptions options;
  options.shapes = {"1x2x9:17x8:5c"};
  options.seconds = 0.005;
  options.backends = {"reference", "fake"};
  return options;
}

Run MeasureSmall(std::span<const Backend> backends) {
  auto run = MeasureAll(Small(), backends, [] { return false; }, kTwoReads);
  REQUIRE(run.ok());
  return std::move(*run);
}

TEST_CASE("bench: a wrong kernel voids its row, and no other") {
  constexpr struct {
    void (*kernel)(const AttentionTask<float>&);
    const char* message;
  } kFaults[] = {{OneElement, "O[0]["},
                 {OneLse, "LSE[0]["},
                 {LastRowNotWritten, "not finite"},
                 {NotWrittenLater, "not finite after a timed call"}};
  for (const auto& fault : kFaults) {
    CAPTURE(fault.message);
    calls = 0;
    KernelTable<float> table;
    const Backend backends[] = {ReferenceBackend(), Fake("fake:wrong", table, fault.kernel)};
    const Run run = MeasureSmall(backends);
    REQUIRE(run.results.size() == 2);
    CHECK(run.results[0].failure == "");
    CHECK(run.results[1].failure.find(fault.message) != std::string::npos);
    CHECK(ExitCode(run) == 1);
    const auto json = Json(run);
    CHECK_FALSE(json["benchmarks"][0].contains("error_occurred"));
    CHECK(json["benchmarks"][1]["error_occurred"] == true);
    CHECK(json["benchmarks"][1]["error_message"] == run.results[1].failure);
    CHECK_FALSE(json["benchmarks"][1].contains("real_time"));
    CHECK(TableText(run).find("\nvoid: " + run.results[1].row.Name()) != std::string::npos);
  }
}

void OneKeyGradient(const AttentionBackwardTask<float>& task) {
  reference::AttentionBackward(task);
  task.dk[0] += 1e-2f;
}
void NoValueGradient(const AttentionBackwardTask<float>& task) {
  AttentionBackwardTask<float> part = task;
  std::vector<float> elsewhere(static_cast<size_t>(task.forward.keys * task.forward.dv));
  part.dv = elsewhere.data(), part.dv_row = task.forward.dv, part.dv_col = 1;
  reference::AttentionBackward(part);
}
void OneQueryGradientMissing(const AttentionBackwardTask<float>& task) {
  AttentionBackwardTask<float> part = task;
  part.forward.query_end -= 1;
  reference::AttentionBackward(part);
}

TEST_CASE("bench: a wrong backward kernel voids its row, and a right one passes") {
  constexpr struct {
    void (*kernel)(const AttentionBackwardTask<float>&);
    const char* message;
  } kFaults[] = {{OneKeyGradient, "dK[0]["},
                 {NoValueGradient, "dV["},
                 {OneQueryGradientMissing, "not finite"}};
  for (const auto& fault : kFaults) {
    CAPTURE(fault.message);
    KernelTable<float> table;
    Backend wrong = Fake("fake:wrong", table, reference::AttentionForward<float>);
    table.attention_backward = fault.kernel;
    const Backend backends[] = {ReferenceBackend(), wrong};
    BenchOptions options = Small();
    options.ops = {"backward"};
    const auto run = MeasureAll(options, backends, [] { return false; }, kTwoReads);
    REQUIRE(run.ok());
    REQUIRE(run->results.size() == 2);
    CHECK(run->results[0].failure == "");
    CAPTURE(run->results[1].failure);
    CHECK(run->results[1].failure.find(fault.message) != std::string::npos);
    CHECK(run->results[0].row.Name() == "attention_backward/1x2x9:17x8:5c/f32/flash/reference");
    const auto json = Json(*run);
    CHECK(json["benchmarks"][0]["op"] == "attention_backward");
    CHECK(json["benchmarks"][0]["flops"] == Flops(*ParseShape("1x2x9:17x8:5c"), true));
  }
}

TEST_CASE("bench: a right kernel passes, with every figure in the JSON") {
  KernelTable<float> table;
  const Backend backends[] = {ReferenceBackend(),
                              Fake("fake:right", table, reference::AttentionForward<float>)};
  const Run run = MeasureSmall(backends);
  CHECK(ExitCode(run) == 0);
  const auto json = nlohmann::json::parse(Json(run).dump());
  for (const char* key : {"date", "executable", "cpu_model", "engine", "compiler", "flags",
                          "commit", "library_build_type"}) {
    CAPTURE(key);
    REQUIRE(json["context"].contains(key));
    CHECK(json["context"][key].get<std::string>() != "");
  }
  CHECK(json["context"]["num_cpus"].get<int64_t>() >= 1);
  CHECK(json["context"]["peaks"][0]["flops_per_second"].get<double>() > 0);
  CHECK(json["context"]["read_bandwidth"].size() == 2);
  REQUIRE(json["benchmarks"].size() == 2);
  for (const auto& row : json["benchmarks"]) {
    CAPTURE(row.dump());
    CHECK(row["run_name"] == row["name"]);
    CHECK(row["run_type"] == "iteration");
    CHECK(row["time_unit"] == "ns");
    CHECK(row["mask"] == "causal");
    CHECK(row["threads"] == 1);
    CHECK(row["flops"] == Flops(*ParseShape("1x2x9:17x8:5c")));
    CHECK(row["samples"].size() == row["count"].get<size_t>());
    CHECK(row["count"].get<int64_t>() >= 3);
    CHECK(row["p20"].get<double>() <= row["real_time"].get<double>());
    CHECK(row["real_time"].get<double>() <= row["p80"].get<double>());
    const double rate = row["flops"].get<double>() / (row["cpu_time"].get<double>() * 1e-9);
    CHECK(row["flops_per_second"].get<double>() == doctest::Approx(rate));
    CHECK(row["max_rel_error"].get<double>() <= row["tolerance"].get<double>());
    CHECK(row["non_finite"] == 0);
    CHECK(row["reproduce"].get<std::string>().find(row["backend"].get<std::string>()) !=
          std::string::npos);
  }
  // A backend whose instruction set is unknown has no peak, and nothing made up in its place.
  CHECK(json["benchmarks"][0].contains("peak_fraction"));
  CHECK(json["benchmarks"][1]["isa"] == "unknown");
  CHECK_FALSE(json["benchmarks"][1].contains("peak_fraction"));
  CHECK_FALSE(json["benchmarks"][1].contains("roofline_ratio"));
}

TEST_CASE("bench: stopped early, it keeps the samples that it has") {
  BenchOptions options = Small();
  options.backends = {"reference"};
  options.shapes = {"1x2x9x8", "1x2x9x9"};
  options.seconds = 3600;
  const Backend backends[] = {ReferenceBackend()};
  int asked = 0;
  const auto run = MeasureAll(options, backends, [&] { return ++asked > 30; }, kTwoReads);
  REQUIRE(run.ok());
  CHECK(run->interrupted);
  REQUIRE(run->results.size() == 1);
  CHECK(run->results[0].seconds.size() >= 1);
  CHECK(ExitCode(*run) == 130);
  CHECK(TableText(*run).find("interrupted") != std::string::npos);
}

TEST_CASE("bench: what is skipped has a reason") {
  KernelTable<float> table;
  const Backend backends[] = {ReferenceBackend(), Fake("fake:f32", table, OneElement)};
  BenchOptions options;
  options.dtypes = {"f32", "f64"};
  options.shapes = {"1x1x4x4"};
  options.backends = {"fake"};
  auto plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  CHECK(plan->rows.size() == 1);
  REQUIRE(plan->skipped.size() == 1);
  CHECK(plan->skipped[0].reason == "fake:f32 has no attention forward of f64");

  options.shapes = {"1x64x1000000x4096"};
  options.dtypes = {};
  plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  CHECK(plan->rows.empty());
  REQUIRE(plan->skipped.size() == 1);
  CHECK(plan->skipped[0].reason.find("GiB") != std::string::npos);
}

TEST_CASE("bench: the check in f64 accepts the reference, also of rows that see nothing") {
  // 5 queries, 3 keys: queries 0 and 1 see no key.
  const ForwardShape s = *ParseShape("2x4x2x5:3x6:7c");
  std::vector<double> q(2 * 4 * 5 * 6), k(2 * 2 * 3 * 6), v(2 * 2 * 3 * 7), o(2 * 4 * 5 * 7),
      lse(2 * 4 * 5);
  double x = 0;
  for (auto* tensor : {&q, &k, &v}) {
    for (double& value : *tensor) value = std::sin(x += 1);
  }
  const AttentionInputs<double> inputs = {
      {q.data(), {2, 4, 5, 6}}, {k.data(), {2, 2, 3, 6}}, {v.data(), {2, 2, 3, 7}}};
  const AttentionOutputs<double> outputs = {{o.data(), {2, 4, 5, 7}}, {lse.data(), {2, 4, 5}}};
  FillWithNan(outputs);
  CHECK(CountNonFinite(outputs, s) == 2 * 4 * 5 * (7 + 1));
  AttentionOptions options;
  options.causal = s.causal;
  const Oracle<double> oracle(inputs, s);
  REQUIRE(AttentionForward(ReferenceBackend(), inputs, options, outputs).ok());
  CHECK(oracle.Compare(outputs).failure == "");
  outputs.lse(1, 3, 0) = 0;  // was -inf
  CHECK(oracle.Compare(outputs).failure.find("LSE[1][3][0]") == 0);
}

}  // namespace
}  // namespace attn::bench
