// SPDX-License-Identifier: Apache-2.0
// The harness itself: what it counts, what its loops do, and that it believes no wrong kernel.
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bench/check.h"
#include "bench/peak.h"
#include "bench/plan.h"
#include "bench/run.h"
#include "bench/shape.h"
#include "bench/statistics.h"
#include "drivers/scratch.h"
#include "kernels/tasks.h"
#include "reference/kernels.h"

namespace attn::bench {
namespace {

TEST_CASE("bench: quantiles interpolate between ranks") {
  CHECK(Quantile({3}, 0.2) == 3);
  CHECK(Quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(Quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(Quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(std::isnan(Quantile({}, 0.5)));
  const Summary s = Summarize({11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6});
  CHECK(s.median == 6);
  CHECK(s.p20 == 3);
  CHECK(s.p80 == 9);
  CHECK(s.count == 11);
}

TEST_CASE("bench: shapes parse, print the same, and name what is wrong") {
  for (const char* text : {"1x8x1024x64", "1x8x1024x64c", "2x32x8x1:4096x128c", "1x16x7x192:128"}) {
    const auto shape = ParseShape(text);
    REQUIRE_MESSAGE(shape.ok(), text);
    CHECK(Text(*shape) == text);
  }
  const auto grouped = ParseShape("2x32x8x1:4096x192:128c");
  REQUIRE(grouped.ok());
  CHECK(grouped->batch == 2);
  CHECK(grouped->heads == 32);
  CHECK(grouped->kv_heads == 8);
  CHECK(grouped->queries == 1);
  CHECK(grouped->keys == 4096);
  CHECK(grouped->width == 192);
  CHECK(grouped->value_width == 128);
  CHECK(grouped->causal.enabled);
  for (const char* text :
       {"", "c", "1x8x1024", "1x8x4x2x1x1", "1x8x1024x64cc", "1x8x1024x0", "1x8x-1x64",
        "1x8x1024x6.5", "1x8x1:2:3x64", "1x8x99999999999999999999x64", "1x8x1024x64 ",
        "1x8x3x1024x64", "1x1000000x1000000x1000000"}) {
    const auto shape = ParseShape(text);
    CHECK_FALSE_MESSAGE(shape.ok(), text);
    CHECK(shape.status().message().find("shape \"" + std::string(text) + "\"") == 0);
  }
}

TEST_CASE("bench: operations and bytes are counted exactly") {
  CHECK(Flops(*ParseShape("1x8x1024x64")) == 4ll * 8 * 1024 * 1024 * 64);
  CHECK(Flops(*ParseShape("1x8x1024x64c")) == 4ll * 8 * (1024 * 1025 / 2) * 64);
  CHECK(Flops(*ParseShape("3x4x2x5x6:7")) == 3 * 4 * 25 * (2 * 6 + 2 * 7));
  CHECK(Flops(*ParseShape("3x4x2x5x6:7"), true) == 3 * 4 * 25 * (6 * 6 + 4 * 7));
  // Q 2 heads x 3 x 4, K 5 x 4, V 5 x 6, O 2 x 3 x 6, LSE 2 x 3.
  CHECK(CompulsoryBytes(*ParseShape("1x2x1x3:5x4:6"), 4) == 4 * (24 + 20 + 30 + 36 + 6));
  CHECK(CompulsoryBytes(*ParseShape("1x2x1x3:5x4:6"), 4, true) ==
        4 * (2 * (24 + 20 + 30 + 36) + 6));
  // Query 0 sees keys 0..2 of 5, so its group reads those alone.
  ForwardShape first = *ParseShape("1x1x1:5x4c");
  first.causal.query_offset = 2;
  CHECK(VisiblePairs(first) == 3);
  CHECK(CompulsoryBytes(first, 8) == 8 * (4 + 3 * 8 + 4 + 1));

  for (const int64_t queries : {1, 4, 9}) {
    for (const int64_t keys : {1, 4, 9}) {
      for (const int64_t offset : {-20, -3, 0, 2, 20}) {
        ForwardShape shape;
        shape.queries = queries, shape.keys = keys;
        shape.causal.enabled = true;
        shape.causal.query_offset = offset;
        int64_t pairs = 0;
        for (int64_t i = 0; i < queries; ++i) {
          for (int64_t j = 0; j < keys; ++j) pairs += j <= i + offset ? 1 : 0;
        }
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(offset);
        CHECK(VisiblePairs(shape) == pairs);
      }
    }
  }
}

TEST_CASE("bench: every backend has a peak of its own width") {
  REQUIRE_FALSE(Isas().empty());
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    const Isa* isa = IsaOf(backend.name);
    REQUIRE(isa != nullptr);
    if (backend.name == "reference" || backend.name == "portable") continue;
    CHECK(isa->vector_bytes == 4 * backend.Lanes(DType::kF32));
  }
  CHECK(IsaOf("nonsense") == nullptr);
  CHECK(IsaOf("highway:nonsense") == nullptr);
}

template <class T>
void CheckChains(const PeakLoop& loop, MultiplyAddLoop<T> run) {
  CAPTURE(loop.name);
  REQUIRE(run != nullptr);
  // Each step halves the distance to 1, exactly in binary.
  T start[kChains];
  for (int i = 0; i < kChains; ++i) start[i] = static_cast<T>(1 + i * 1024);
  T want = 0;
  for (const T x : start) want += 1 + std::ldexp(x - 1, -2 * kStepsPerRound);
  CHECK(run(2, start, T{0.5}, T{0.5}) == want);
}

TEST_CASE("bench: a round of the peak loop is what is counted") {
  for (const Isa& isa : Isas()) {
    CAPTURE(isa.name);
    for (const PeakLoop& loop : isa.loops) {
      CheckChains<float>(loop, loop.f32);
      CheckChains<double>(loop, loop.f64);
    }
  }
}

TEST_CASE("bench: the read loop reads every byte") {
  constexpr int64_t kWords = 3 * kReadGranule / 4;
  const Scratch<uint32_t> buffer(kWords);
  REQUIRE(buffer.ok());
  uint32_t want = 0;
  for (int64_t i = 0; i < kWords; ++i) {
    buffer.data()[i] = static_cast<uint32_t>(i) * 2654435761u;
    want += buffer.data()[i];
  }
  for (const Isa& isa : Isas()) CHECK(isa.read(buffer.data(), kWords * 4) == want);
}

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

TEST_CASE("bench: bad options are named with their values") {
  const auto message = [](void (*change)(BenchOptions&)) {
    BenchOptions options;
    change(options);
    const auto plan = MakePlan(options, Backends());
    REQUIRE_FALSE(plan.ok());
    return plan.status().message();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(message([](BenchOptions& o) { o.backends = {"cray"}; }), "no backend \"cray\""));
  CHECK(has(message([](BenchOptions& o) { o.backends = {""}; }), "no backend \"\""));
  CHECK(has(message([](BenchOptions& o) { o.dtypes = {"f8"}; }), "dtype \"f8\""));
  CHECK(has(message([](BenchOptions& o) { o.forms = {"fast"}; }), "form \"fast\""));
  CHECK(has(message([](BenchOptions& o) { o.ops = {"decode"}; }), "op \"decode\""));
  CHECK(has(message([](BenchOptions& o) { o.filter = "("; }), "filter \"(\""));
  CHECK(has(message([](BenchOptions& o) { o.filter = "zzz"; }), "filter \"zzz\""));
  CHECK(has(message([](BenchOptions& o) { o.shapes = {"2x2"}; }), "shape \"2x2\""));
  CHECK(has(message([](BenchOptions& o) { o.seconds = -1; }), "seconds is -1"));
  CHECK(has(message([](BenchOptions& o) { o.seconds = NAN; }), "seconds is nan"));
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
