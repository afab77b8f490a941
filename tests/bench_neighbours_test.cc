// SPDX-License-Identifier: Apache-2.0
// `attn bench --op rms_norm rotary matmul`, and tensors of 16 bits.
#include <doctest/doctest.h>

#include <string>

#include "bench/plan.h"
#include "bench/neighbours.h"
#include "bench/run.h"
#include "kernels/tasks.h"
#include "reference/kernels.h"

namespace attn::bench {
namespace {

constexpr int64_t kSmallReads[] = {1 << 14};

BenchOptions OnRows() {
  BenchOptions options;
  options.ops = {"rms_norm", "rotary"};
  options.shapes = {"1x3x5x18"};
  options.seconds = 0.001;
  options.small_pages = true;
  return options;
}

TEST_CASE("bench: tensors of 16 bits pass their check, in each form and backward") {
  BenchOptions options = OnRows();
  options.ops = {"forward", "backward"};
  options.forms = {"flash", "explicit", "decode"};
  options.dtypes = {"bf16", "f16"};
  options.shapes = {"1x4x2x9:70x24:20c"};
  const auto run = MeasureAll(options, Backends(), [] { return false; }, kSmallReads);
  REQUIRE(run.ok());
  CHECK(ExitCode(*run) == 0);
  const nlohmann::ordered_json json = Json(*run);
  // All but the reference and the portable one; three forms and backward, two types.
  REQUIRE(json["benchmarks"].size() == 8 * (Backends().size() - 2));
  for (const auto& row : json["benchmarks"]) {
    CAPTURE(row.dump());
    CHECK(row["non_finite"] == 0);
    CHECK(row["max_rel_error"].get<double>() <= row["tolerance"].get<double>());
    CHECK(row["max_rel_error"].get<double>() > 1e-5);  // it was rounded
  }
}

TEST_CASE("bench: operations on rows pass their check and count what must move") {
  const auto run = MeasureAll(OnRows(), Backends(), [] { return false; }, kSmallReads);
  REQUIRE(run.ok());
  CHECK(ExitCode(*run) == 0);
  const nlohmann::ordered_json json = Json(*run);
  // All but the reference and the portable one.
  REQUIRE(json["benchmarks"].size() == 2 * (Backends().size() - 2));
  for (const auto& row : json["benchmarks"]) {
    CAPTURE(row.dump());
    const bool norm = row["op"] == "rms_norm";
    CHECK(row["bytes"] == 4 * (2 * 3 * 5 * 18 + (norm ? 18 : 2 * 5 * 9)));
    CHECK(row["flops"] == (norm ? 4 : 3) * 3 * 5 * 18);
    CHECK(row["non_finite"] == 0);
    CHECK(row["max_rel_error"].get<double>() <= row["tolerance"].get<double>());
    CHECK(row["reproduce"].get<std::string>().find(norm ? "--op rms_norm" : "--op rotary") !=
          std::string::npos);
  }
  CHECK(TableText(*run).find("f32 rms_norm") != std::string::npos);
}

TEST_CASE("bench: the matrix product passes its check and counts its operations") {
  BenchOptions options = OnRows();
  options.ops = {"matmul"};
  options.shapes = {"2x3x7:19x18"};
  options.dtypes = {"f32", "f64"};
  const auto run = MeasureAll(options, Backends(), [] { return false; }, kSmallReads);
  REQUIRE(run.ok());
  CHECK(ExitCode(*run) == 0);
  const nlohmann::ordered_json json = Json(*run);
  REQUIRE(json["benchmarks"].size() == 2 * (Backends().size() - 2));
  for (const auto& row : json["benchmarks"]) {
    CAPTURE(row.dump());
    const int64_t size = row["dtype"] == "f32" ? 4 : 8;
    CHECK(row["flops"] == 2 * 6 * 7 * 19 * 18);
    CHECK(row["bytes"] == size * 6 * (7 * 18 + 18 * 19 + 7 * 19));
    CHECK(row["checked_rows"] == 2 * 3 * 7);
    CHECK(row["non_finite"] == 0);
    CHECK(row["scratch_bytes"] > 0);
    CHECK(row["max_rel_error"].get<double>() <= row["tolerance"].get<double>());
    if (size == 4) CHECK(row["max_rel_error"].get<double>() > 0);  // it was compared
    CHECK(row["reproduce"].get<std::string>().find("--op matmul") != std::string::npos);
  }
}

// The last term of each sum is missing.
void OneTermShort(const MatmulTask<float>& task) {
  MatmulTask<float> shorter = task;
  --shorter.depth;
  reference::Matmul(shorter);
}

TEST_CASE("bench: a wrong product voids its row") {
  KernelTable<float> table = *ReferenceBackend().f32;
  table.matmul = OneTermShort;
  const Backend backends[] = {{"fake:wrong", &table}};
  BenchOptions options = OnRows();
  options.ops = {"matmul"};
  options.shapes = {"1x2x40:30x300"};
  const auto run = MeasureAll(options, backends, [] { return false; }, kSmallReads);
  REQUIRE(run.ok());
  CHECK(ExitCode(*run) == 1);
  REQUIRE(run->results.size() == 1);
  CHECK(run->results[0].failure.find("f64 says") != std::string::npos);
}

// Wrong in the last channel.
void Careless(const RmsNormTask<float>& task) {
  reference::RmsNorm(task);
  for (int64_t r = 0; r < task.rows; ++r) task.y[task.y_row[r] + task.width - 1] += 0.001f;
}

TEST_CASE("bench: a wrong norm voids its row") {
  KernelTable<float> table = *ReferenceBackend().f32;
  table.rms_norm = Careless;
  const Backend backends[] = {{"fake:wrong", &table}};
  const auto run = MeasureAll(OnRows(), backends, [] { return false; }, kSmallReads);
  REQUIRE(run.ok());
  CHECK(ExitCode(*run) == 1);
  REQUIRE(run->results.size() == 2);
  CHECK(run->results[0].failure.find("channel 17") != std::string::npos);
  CHECK(run->results[1].failure == "");
}

TEST_CASE("bench: operations beside attention have a shape of their own, and take no other") {
  BenchOptions options;
  options.ops = {"forward", "rotary", "matmul"};
  options.backends = {"fake"};
  const Backend backends[] = {{"fake:f32", ReferenceBackend().f32}};
  auto plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  REQUIRE(plan->rows.size() == 6);
  CHECK(plan->rows[4].Name() == "rotary/1x32x8192x128/f32/fake:f32");
  CHECK(plan->rows[5].Name() == "matmul/1x1x1024x1024/f32/fake:f32");
  options.shapes = {"1x2x4x8c"};
  plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  CHECK(plan->rows.size() == 1);
  REQUIRE(plan->skipped.size() == 2);
  CHECK(plan->skipped[0].reason == "rotary has rows of one tensor: BxHxNxD");
  CHECK(plan->skipped[1].reason == "matmul has two factors, M x K and K x N: BxHxM:NxK");
  options.shapes = {"1x2x4:6x8"};
  plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  REQUIRE(plan->rows.size() == 2);
  CHECK(plan->rows[1].Name() == "matmul/1x2x4:6x8/f32/fake:f32");
}

}  // namespace
}  // namespace attn::bench
