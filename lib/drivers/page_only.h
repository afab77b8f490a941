// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_DRIVERS_PAGE_ONLY_H_
#define ATTN_DRIVERS_PAGE_ONLY_H_

namespace attn {

// The page's module has a budget of 60 kB: what the page has no way to ask for (masks, sinks,
// lengths, caches in pages, decoding, threads) folds away where this is true.
#if defined(ATTN_PAGE_ONLY)
constexpr bool kPageOnly = true;
#else
constexpr bool kPageOnly = false;
#endif

}  // namespace attn

#endif  // ATTN_DRIVERS_PAGE_ONLY_H_
