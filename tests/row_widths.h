// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_TESTS_ROW_WIDTHS_H_
#define ATTN_TESTS_ROW_WIDTHS_H_

#include <array>
#include <cstdint>
#include <set>

namespace attn::testing {

constexpr std::array<size_t, 4> kWidthSlowest = {3, 1, 0, 2};

// Around one vector, the four of a step, and the blocks of a sum.
inline std::set<int64_t> RowWidths(int64_t lanes) {
  std::set<int64_t> widths = {1,
                              2,
                              lanes - 1,
                              lanes,
                              lanes + 1,
                              4 * lanes - 1,
                              4 * lanes + 1,
                              6 * lanes,
                              100,
                              128 * lanes,
                              128 * lanes + 5 * lanes + 3,
                              5000};
  widths.erase(0);
  return widths;
}

}  // namespace attn::testing

#endif  // ATTN_TESTS_ROW_WIDTHS_H_
