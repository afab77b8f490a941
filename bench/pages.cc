// SPDX-License-Identifier: Apache-2.0
#include "bench/pages.h"

#include <fstream>
#include <new>
#include <string>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace attn::bench {
namespace {

constexpr int64_t kLargePage = int64_t{2} << 20;

#if defined(__linux__)
// madvise succeeds as well where an administrator has switched such pages off.
bool MakeLarge(void* data, size_t bytes) {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  if (line.empty() || line.find("[never]") != std::string::npos) return false;
  return madvise(data, bytes, MADV_HUGEPAGE) == 0;
}
#else
bool MakeLarge(void*, size_t) { return false; }
#endif

}  // namespace

Pages::Pages(int64_t bytes, bool want_large) {
  // Whole pages, so that the advice touches no other object. PTRDIFF_MAX is small on 32 bits.
  if (bytes > PTRDIFF_MAX - kLargePage) return;
  const size_t whole = static_cast<size_t>((bytes + kLargePage - 1) / kLargePage * kLargePage);
  data_ = static_cast<unsigned char*>(
      ::operator new(whole, std::align_val_t{kLargePage}, std::nothrow));
  if (ok() && want_large) large_ = MakeLarge(data_, whole);
}

Pages::~Pages() { ::operator delete(data_, std::align_val_t{kLargePage}); }

}  // namespace attn::bench
