// SPDX-License-Identifier: Apache-2.0
// The harness itself: what it counts, what its loops do, which options it takes.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/peak.h"
#include "bench/plan.h"
#include "bench/shape.h"
#include "bench/statistics.h"
#include "drivers/scratch.h"

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

}  // namespace
}  // namespace attn::bench
