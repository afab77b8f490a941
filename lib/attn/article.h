// SPDX-License-Identifier: Apache-2.0
// Every figure of the article "The Math of Attention", published beside computed.
#ifndef ATTN_ARTICLE_H_
#define ATTN_ARTICLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"

namespace attn {

// Step 1's three tokens, row-major [3][4].
std::span<const double> ArticleQ();
std::span<const double> ArticleK();
std::span<const double> ArticleV();

// When a computed value counts as the published one.
enum class Compare : int32_t {
  kExact,     // equal
  kRounded,   // equal after rounding to the digits printed
  kAbout,     // within 1 %
  kOrder,     // between a tenth and ten times: sizes of rounding errors
  kAtLeast,   // not below
  kTiny,      // below 1e-15 in magnitude
  kCurve,     // within 0.02 of the law at every n
  kIdentity,  // largest difference below 1e-15 relative
};
// "exact", "rounded", "about", "order", "at_least", "abs<1e-15", "curve", "identity".
std::string_view Name(Compare compare);

enum class Verdict : int32_t {
  kAgrees,
  kDiffers,
  kNeedsFile,  // depends on a file that the user has to bring
  kLater,      // this version does not compute it yet
};
// "agrees", "differs", "needs-file", "later".
std::string_view Name(Verdict verdict);

// One number or word of a figure.
struct Leaf {
  std::string published;  // as printed, without quotes: "0.090", "6.04e-15", "1:7"
  double number = 0;      // computed, where `text` is empty
  std::string text = {};  // computed, where the answer is no number: "36/48"
  bool agrees = false;
  bool equal = false;  // without any rounding
  // Leading significant digits of `published` that the computed value reproduces.
  int32_t digits = 0;
};

struct Figure {
  std::string_view id;  // "s1.weights_token3"
  int32_t step = 0;     // 1..7; 8 for "In the real world"
  std::string_view what;
  Compare compare = Compare::kExact;
  // JSON text as in the article's list: a scalar, or arrays and objects of scalars. `leaves` are
  // its scalars in the order of the text (an object's keys are none). Whoever prints JSON parses
  // this and puts the computed values in the places of the scalars.
  std::string_view published;
  std::vector<Leaf> leaves = {};  // with computed values, unless the verdict says there are none
  Verdict verdict = Verdict::kLater;
  std::string note = {};  // what a reader should see beside the values, or empty
  // For exact and rounded figures: the digits to which all leaves agree, the fewest of one. Leaves
  // that are equal without rounding count only where all are.
  std::optional<int32_t> digits = {};

  bool computed() const { return verdict == Verdict::kAgrees || verdict == Verdict::kDiffers; }
};

// Every figure, in the article's order. Steps 1 and 3 run `backend`'s f64 softmax and attention,
// and the reference's where it has none. About 0.2 s, most of it Step 2's 1.4 million scores.
Result<std::vector<Figure>> ArticleReport(const Backend& backend);

// ---- The rules, for whoever compares other values -----------------------------------------------

// Fills `agrees` and `digits` of a leaf from its published and computed values.
void JudgeLeaf(Compare compare, Leaf& leaf);

// The scalars of a JSON text, strings without their quotes.
std::vector<std::string> JsonScalars(std::string_view json);

}  // namespace attn

#endif  // ATTN_ARTICLE_H_
