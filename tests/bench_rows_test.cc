// SPDX-License-Identifier: Apache-2.0
// `attn bench --op rms_norm rotary`.
#include <doctest/doctest.h>

#include <string>

#include "bench/plan.h"
#include "bench/rows.h"
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

TEST_CASE("bench: operations on rows have a shape of their own, and take no other") {
  BenchOptions options;
  options.ops = {"forward", "rotary"};
  options.backends = {"fake"};
  const Backend backends[] = {{"fake:f32", ReferenceBackend().f32}};
  auto plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  CHECK(plan->rows.size() == 5);
  CHECK(plan->rows.back().Name() == "rotary/1x32x8192x128/f32/fake:f32");
  options.shapes = {"1x2x4x8c"};
  plan = MakePlan(options, backends);
  REQUIRE(plan.ok());
  CHECK(plan->rows.size() == 1);
  REQUIRE(plan->skipped.size() == 1);
  CHECK(plan->skipped[0].reason == "rotary has rows of one tensor: BxHxNxD");
}

}  // namespace
}  // namespace attn::bench
