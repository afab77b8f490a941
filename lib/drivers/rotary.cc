// SPDX-License-Identifier: Apache-2.0
#include "attn/rotary.h"

#include <cmath>

#include "drivers/attention_task.h"

namespace attn {
namespace {

template <class T>
Status CheckRotary(const View<const T, 4>& x, const RotaryTables<T>& tables) {
  ATTN_RETURN_IF_ERROR(CheckInput("X", x).status());
  ATTN_RETURN_IF_ERROR(CheckInput("cos", tables.cos).status());
  const auto [rows, half] = tables.cos.shape;
  ATTN_RETURN_IF_ERROR(CheckGiven("sin", tables.sin, {rows, half}));
  const auto [batch, heads, tokens, width] = x.shape;
  if (2 * half > width) {
    return InvalidArgument("cos has width ", half, ", so ", 2 * half, " channels turn, X has ",
                           width);
  }
  ATTN_RETURN_IF_ERROR(CheckOptional("positions", tables.positions));
  if (!tables.positions.present()) {
    if (tokens <= rows) return {};
    return InvalidArgument("X has ", tokens, " tokens, cos has ", rows, " rows");
  }
  ATTN_RETURN_IF_ERROR(CheckShape("positions", tables.positions.shape, {batch, tokens}));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = 0; s < tokens; ++s) {
      const int64_t position = tables.positions(b, s);
      if (position >= 0 && position < rows) continue;
      return InvalidArgument("positions[", b, "][", s, "] is ", position, ", cos has ", rows,
                             " rows");
    }
  }
  return {};
}

// Turns by the tables' angles times `direction`, 1 or -1.
template <class T>
Status Turn(const View<const T, 4>& x, const RotaryTables<T>& tables, RotaryPairing pairing,
            T direction, const View<T, 4>& y) {
  ATTN_RETURN_IF_ERROR(CheckRotary(x, tables));
  ATTN_RETURN_IF_ERROR(CheckResult("Y", y, x.shape));
  const auto [batch, heads, tokens, width] = x.shape;
  const int64_t half = tables.cos.shape[1];
  const bool interleaved = pairing == RotaryPairing::kInterleaved;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < tokens; ++s) {
        const int64_t row = tables.positions.present() ? tables.positions(b, s) : s;
        for (int64_t k = 0; k < half; ++k) {
          const int64_t first = interleaved ? 2 * k : k;
          const int64_t second = interleaved ? 2 * k + 1 : k + half;
          const T cos = tables.cos(row, k), sin = direction * tables.sin(row, k);
          const T x1 = x(b, h, s, first), x2 = x(b, h, s, second);
          y(b, h, s, first) = x1 * cos - x2 * sin;
          y(b, h, s, second) = x1 * sin + x2 * cos;
        }
        for (int64_t c = 2 * half; c < width; ++c) y(b, h, s, c) = x(b, h, s, c);
      }
    }
  }
  return {};
}

}  // namespace

template <class T>
Status RotaryEmbedding(const View<const T, 4>& x, const RotaryTables<T>& tables,
                       RotaryPairing pairing, const View<T, 4>& y) {
  return Turn(x, tables, pairing, T{1}, y);
}

template <class T>
Status RotaryEmbeddingBackward(const View<const T, 4>& d_y, const RotaryTables<T>& tables,
                               RotaryPairing pairing, const View<T, 4>& d_x) {
  return Turn(d_y, tables, pairing, T{-1}, d_x);
}

template <class T>
Status FillRotaryTables(double base, const View<T, 2>& cos, const View<T, 2>& sin) {
  ATTN_RETURN_IF_ERROR(CheckOutput("cos", cos));
  ATTN_RETURN_IF_ERROR(CheckResult("sin", sin, cos.shape));
  if (!std::isfinite(base) || !(base > 0)) {
    return InvalidArgument("base is not a finite number above 0");
  }
  const auto [rows, half] = cos.shape;
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t k = 0; k < half; ++k) {
      const double turn = std::pow(base, -static_cast<double>(k) / static_cast<double>(half));
      const double angle = static_cast<double>(p) * turn;
      cos(p, k) = static_cast<T>(std::cos(angle));
      sin(p, k) = static_cast<T>(std::sin(angle));
    }
  }
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                       \
  template Status RotaryEmbedding(const View<const T, 4>&, const RotaryTables<T>&, RotaryPairing, \
                                  const View<T, 4>&);                                             \
  template Status RotaryEmbeddingBackward(const View<const T, 4>&, const RotaryTables<T>&,        \
                                          RotaryPairing, const View<T, 4>&);                      \
  template Status FillRotaryTables(double, const View<T, 2>&, const View<T, 2>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
