// SPDX-License-Identifier: Apache-2.0
#include "bench/shape.h"

#include <charconv>
#include <optional>
#include <vector>

#include "math/visibility.h"

namespace attn::bench {
namespace {

constexpr const char* kForm =
    "expected BxHxNxD or BxHqxHkxNxD with numbers from 1, N and D also as a:b, and a final c for "
    "causal, such as 1x8x1024x64c or 1x32x8x1:4096x128c";

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 1) return std::nullopt;
  return value;
}

// "a" means a:a.
bool ParsePair(std::string_view text, int64_t& first, int64_t& second) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() > 2) return false;
  const auto a = Number(parts[0]), b = Number(parts.back());
  if (!a || !b) return false;
  first = *a;
  second = *b;
  return true;
}

// All counts below this are exact in 63 bits, and their sums too.
bool Countable(const ForwardShape& s) {
  const auto product = [](std::initializer_list<int64_t> factors) {
    long double p = 1;
    for (const int64_t f : factors) p *= static_cast<long double>(f);
    return p;
  };
  constexpr long double kLimit = 0x1p62L;
  return product({s.batch, s.heads, s.queries, s.keys}) *
             (6 * static_cast<long double>(s.width) + 4 * static_cast<long double>(s.value_width)) <
         kLimit;
}

}  // namespace

Result<ForwardShape> ParseShape(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return InvalidArgument("shape \"", text, "\": ", why);
  };
  std::string_view sizes = text;
  ForwardShape shape;
  if (sizes.ends_with('c')) {
    shape.causal.enabled = true;
    sizes.remove_suffix(1);
  }
  const std::vector<std::string_view> parts = Split(sizes, 'x');
  if (parts.size() != 4 && parts.size() != 5) return bad(kForm);
  const auto batch = Number(parts[0]), heads = Number(parts[1]);
  const auto kv_heads = parts.size() == 5 ? Number(parts[2]) : heads;
  if (!batch || !heads || !kv_heads) return bad(kForm);
  shape.batch = *batch, shape.heads = *heads, shape.kv_heads = *kv_heads;
  if (!ParsePair(parts[parts.size() - 2], shape.queries, shape.keys)) return bad(kForm);
  if (!ParsePair(parts[parts.size() - 1], shape.width, shape.value_width)) return bad(kForm);
  if (shape.heads % shape.kv_heads != 0) {
    return bad(Message(shape.heads, " query heads are not a multiple of ", shape.kv_heads,
                       " key/value heads"));
  }
  if (!Countable(shape)) return bad("too large to count its operations in 63 bits");
  return shape;
}

std::string Text(const ForwardShape& s) {
  const auto pair = [](int64_t a, int64_t b) {
    return a == b ? Message("x", a) : Message("x", a, ":", b);
  };
  std::string text = Message(s.batch, "x", s.heads);
  if (s.kv_heads != s.heads) text += Message("x", s.kv_heads);
  text += pair(s.queries, s.keys) + pair(s.width, s.value_width);
  return s.causal.enabled ? text + "c" : text;
}

int64_t VisiblePairs(const ForwardShape& s) {
  const Band band(s.causal, {}, s.queries, s.keys);
  int64_t pairs = 0;
  for (int64_t i = 0; i < s.queries; ++i) pairs += VisibleEnd(i, s.keys, band.high);
  return pairs;
}

int64_t Flops(const ForwardShape& s, bool backward) {
  const int64_t pair = backward ? 6 * s.width + 4 * s.value_width : 2 * s.width + 2 * s.value_width;
  return s.batch * s.heads * VisiblePairs(s) * pair;
}

int64_t CompulsoryBytes(const ForwardShape& s, int64_t element_bytes, bool backward) {
  const Band band(s.causal, {}, s.queries, s.keys);
  const int64_t keys = VisibleEnd(s.queries - 1, s.keys, band.high);
  const int64_t times = backward ? 2 : 1;  // each tensor but LSE has a gradient
  const int64_t query_side = s.heads * s.queries * (times * (s.width + s.value_width) + 1);
  const int64_t key_side = times * s.kv_heads * keys * (s.width + s.value_width);
  return s.batch * (query_side + key_side) * element_bytes;
}

int64_t TensorElements(const ForwardShape& s, bool backward) {
  const int64_t times = backward ? 2 : 1;
  return s.batch * (s.heads * s.queries * (times * (s.width + s.value_width) + 1) +
                    times * s.kv_heads * s.keys * (s.width + s.value_width));
}

}  // namespace attn::bench
