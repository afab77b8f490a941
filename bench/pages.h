// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_BENCH_PAGES_H_
#define ATTN_BENCH_PAGES_H_

#include <cstdint>

namespace attn::bench {

// Memory for tensors and read buffers. Large pages are those of 2 MiB, where the system has them:
// on pages of 4 KiB a run measures the walks of the page tables as well, which a virtual machine
// makes twice and another guest's traffic makes slow (bench/README.md has both figures).
class Pages {
 public:
  Pages(int64_t bytes, bool want_large);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  bool ok() const { return data_ != nullptr; }
  unsigned char* data() const { return data_; }  // on a boundary of 2 MiB
  bool large() const { return large_; }          // wanted, and the system agreed

 private:
  unsigned char* data_ = nullptr;
  bool large_ = false;
};

}  // namespace attn::bench

#endif  // ATTN_BENCH_PAGES_H_
