// SPDX-License-Identifier: Apache-2.0
// The article's figures: all of them, judged by rules that can fail.
#include "attn/article.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "testing.h"

namespace attn {
namespace {

std::vector<Figure> Report(const Backend& backend) {
  auto figures = ArticleReport(backend);
  REQUIRE_MESSAGE(figures.ok(), figures.status().message());
  return *figures;
}

bool Agrees(Compare compare, const char* published, double computed) {
  Leaf leaf = {.published = published, .number = computed};
  JudgeLeaf(compare, leaf);
  return leaf.agrees;
}

int32_t Digits(const char* published, double computed) {
  Leaf leaf = {.published = published, .number = computed};
  JudgeLeaf(Compare::kRounded, leaf);
  return leaf.digits;
}

TEST_CASE("every figure that is computed agrees, on every backend; the others are known by name") {
  const std::map<std::string, Verdict> absent = {
      {"s5.qwen", Verdict::kNeedsFile},        {"s6.absorb_error", Verdict::kLater},
      {"s7.recurrent_error", Verdict::kLater}, {"s7.recall_1024", Verdict::kLater},
      {"s7.recall_law", Verdict::kLater},      {"s7.mamba_gate", Verdict::kLater}};
  for (const Backend& backend : Backends()) {
    CAPTURE(backend.name);
    if (!backend.Supports(Op::kAttentionForward, DType::kF64)) continue;
    std::set<std::string_view> ids;
    int32_t step = 1;
    for (const Figure& figure : Report(backend)) {
      CAPTURE(figure.id);
      CHECK(ids.insert(figure.id).second);
      CHECK(figure.step >= step);
      step = figure.step;
      const auto known = absent.find(std::string(figure.id));
      if (known != absent.end()) {
        CHECK(figure.verdict == known->second);
        CHECK(!figure.computed());
        continue;
      }
      CHECK(figure.verdict == Verdict::kAgrees);
      for (const Leaf& leaf : figure.leaves) {
        CAPTURE(leaf.published);
        CAPTURE(leaf.number);
        CHECK(leaf.agrees);
      }
    }
    CHECK(ids.size() == 48);
  }
}

TEST_CASE("step 2's table agrees digit by digit") {
  const std::vector<Figure> figures = Report(ReferenceBackend());
  const auto table = std::find_if(figures.begin(), figures.end(),
                                  [](const Figure& figure) { return figure.id == "s2.table"; });
  REQUIRE(table != figures.end());
  REQUIRE(table->leaves.size() == 8 * 6);
  for (const Leaf& leaf : table->leaves) {
    CAPTURE(leaf.published);
    if (leaf.published == "raw" || leaf.published == "scaled") {
      CHECK(leaf.text == leaf.published);
      continue;
    }
    int32_t printed = 0;
    bool leading = true;
    for (char c : leaf.published) {
      leading = leading && (c == '0' || c == '.');
      printed += !leading && c != '.';
    }
    CHECK(leaf.digits == std::max(printed, 1));
  }
}

TEST_CASE("rounded: the digits that are printed decide, and one more unit differs") {
  CHECK(Agrees(Compare::kRounded, "0.0900", 0.09003057));
  CHECK(!Agrees(Compare::kRounded, "0.0900", 0.0901));
  CHECK(!Agrees(Compare::kRounded, "0.0900", 0.08994));
  CHECK(Agrees(Compare::kRounded, "11.107", 11.107337927389698));
  CHECK(!Agrees(Compare::kRounded, "11.107", 11.1076));
  CHECK(Agrees(Compare::kRounded, "-0.0220", -0.022033));
  CHECK(!Agrees(Compare::kRounded, "-0.0220", 0.022033));
  CHECK(Agrees(Compare::kRounded, "8.8e12", 8796093022208.0));
  CHECK(!Agrees(Compare::kRounded, "8.8e12", 8.86e12));
  CHECK(Agrees(Compare::kRounded, "6.04e-15", 6.0351e-15));
  CHECK(!Agrees(Compare::kRounded, "6.04e-15", 6.0449e-14));
  CHECK(Agrees(Compare::kRounded, "55", 54.8137));
  CHECK(Agrees(Compare::kRounded, "0", 0.4));
  CHECK(!Agrees(Compare::kRounded, "0", 0.6));
  // A tie was rounded by someone in one direction or the other.
  CHECK(Agrees(Compare::kRounded, "2", 2.5));
  CHECK(Agrees(Compare::kRounded, "3", 2.5));
  for (double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK(!Agrees(Compare::kRounded, "2", bad));
  }
}

TEST_CASE("the other rules at their borders") {
  CHECK(Agrees(Compare::kExact, "5120", 5120));
  CHECK(!Agrees(Compare::kExact, "5120", 5120.0000001));
  CHECK(Agrees(Compare::kExact, "2.25", 2.25));
  CHECK(Agrees(Compare::kExact, "nan", NAN));
  CHECK(!Agrees(Compare::kExact, "nan", 0));
  CHECK(!Agrees(Compare::kExact, "0", NAN));
  CHECK(Agrees(Compare::kAbout, "620", 614));
  CHECK(!Agrees(Compare::kAbout, "620", 613));
  CHECK(Agrees(Compare::kOrder, "2.2e-16", 2.1e-15));
  CHECK(Agrees(Compare::kOrder, "2.2e-16", 2.3e-17));
  CHECK(!Agrees(Compare::kOrder, "2.2e-16", 2.3e-15));
  CHECK(!Agrees(Compare::kOrder, "2.2e-16", 0));
  CHECK(Agrees(Compare::kAtLeast, "4", 4));
  CHECK(!Agrees(Compare::kAtLeast, "4", 3));
  CHECK(Agrees(Compare::kTiny, "0", -9e-16));
  CHECK(!Agrees(Compare::kTiny, "0", 1e-15));
  CHECK(!Agrees(Compare::kCurve, "0", 0));
  for (const char* text : {"", "-", ".", "1e", "1e+", "1x", "0.1.2", "1:7", "12345678901234567"}) {
    CAPTURE(text);
    CHECK(!Agrees(Compare::kRounded, text, 1));
  }
  Leaf word = {.published = "36/48", .text = "36/48"};
  JudgeLeaf(Compare::kExact, word);
  CHECK(word.agrees);
  CHECK(word.digits == 4);
  word.text = "12/48";
  JudgeLeaf(Compare::kExact, word);
  CHECK(!word.agrees);
  CHECK(word.digits == 0);
}

TEST_CASE("digits: how many leading ones are reproduced") {
  CHECK(Digits("0.0900", 0.09003) == 3);
  CHECK(Digits("0.665", 0.66524) == 3);
  CHECK(Digits("0.665", 0.6679) == 2);
  CHECK(Digits("11.107", 11.2) == 2);
  CHECK(Digits("5120", 4000) == 0);
  CHECK(Digits("8.8e12", 8.796e12) == 2);
  CHECK(Digits("0", 0.1) == 1);
}

TEST_CASE("a figure's digits are those of its weakest rounded leaf") {
  std::map<std::string_view, std::optional<int32_t>> digits;
  for (const Figure& figure : Report(ReferenceBackend())) digits[figure.id] = figure.digits;
  CHECK(digits["s1.exps"] == 4);            // 7.389, 2.718; the 1 is exactly 1
  CHECK(digits["s1.weights_token3"] == 2);  // 0.090
  CHECK(digits["s4.crossover_token"] == 4);
  CHECK(digits["s2.table"] == 1);  // 1 %, 9 %
  CHECK(!digits["s1.all_masked"]);
  CHECK(!digits["s3.backward_error"]);
  CHECK(!digits["s7.recall_law"]);
}

TEST_CASE("the scalars of a JSON text, in order, without keys") {
  CHECK(JsonScalars(R"("11.107")") == std::vector<std::string>{"11.107"});
  CHECK(JsonScalars("[2, 0, 1]") == std::vector<std::string>{"2", "0", "1"});
  CHECK(JsonScalars(R"([{"d": 16, "scores" : "raw"}, {"d":64,"scores":"a, b: [c]"}])") ==
        std::vector<std::string>{"16", "raw", "64", "a, b: [c]"});
  CHECK(JsonScalars("").empty());
  CHECK(JsonScalars("[[], {}]").empty());
}

// The list of the article's figures is not part of this repository; where it lies beside it, ours
// must be the same.
TEST_CASE("the published figures are those of the article's list") {
  std::ifstream file(ATTN_PUBLISHED_JSON);
  if (!file) {
    MESSAGE("skipped: the article's list is not there: " ATTN_PUBLISHED_JSON);
    return;
  }
  const nlohmann::json list = nlohmann::json::parse(file);
  const std::vector<Figure> figures = Report(ReferenceBackend());
  REQUIRE(figures.size() == list["figures"].size());
  for (size_t i = 0; i < figures.size(); ++i) {
    const Figure& ours = figures[i];
    const nlohmann::json& theirs = list["figures"][i];
    CAPTURE(ours.id);
    CHECK(ours.id == theirs["id"].get<std::string>());
    CHECK(ours.step == theirs["step"].get<int32_t>());
    CHECK(ours.what == theirs["what"].get<std::string>());
    CHECK(Name(ours.compare) == theirs["compare"].get<std::string>());
    CHECK(nlohmann::json::parse(ours.published) == theirs["published"]);
  }
  const std::pair<const char*, std::span<const double>> inputs[] = {
      {"Q", ArticleQ()}, {"K", ArticleK()}, {"V", ArticleV()}};
  for (const auto& [name, values] : inputs) {
    std::vector<double> flat;
    for (const auto& row : list["inputs"][name]) {
      for (const auto& cell : row) flat.push_back(cell.get<double>());
    }
    CHECK(flat == std::vector<double>(values.begin(), values.end()));
  }
}

}  // namespace
}  // namespace attn
