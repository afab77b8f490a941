// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_DRIVERS_SCRATCH_H_
#define ATTN_DRIVERS_SCRATCH_H_

#include <cstddef>
#include <cstdint>

namespace attn {

struct ScratchBlock {
  void* data = nullptr;
  size_t bytes = 0;
};

// A block of at least this size on a 64-byte boundary (a cache line, an AVX-512 vector); data is
// null when there is no memory. Natively a thread keeps its last block, up to 16 MiB, for its next
// call: see scratch.cc.
ScratchBlock TakeScratch(size_t bytes);
void GiveScratch(ScratchBlock block);

// Uninitialised working memory of one call. Check ok().
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) {
    // On 32 bits the product would wrap; and Emscripten's emmalloc takes sizes above PTRDIFF_MAX
    // for negative ones and answers with memory that is in use.
    if (elements == 0) none_ = true;
    if (elements <= 0 || elements > PTRDIFF_MAX / static_cast<int64_t>(sizeof(T))) return;
    block_ = TakeScratch(static_cast<size_t>(elements) * sizeof(T));
  }
  ~Scratch() {
    if (block_.data != nullptr) GiveScratch(block_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  bool ok() const { return none_ || block_.data != nullptr; }
  T* data() const { return static_cast<T*>(block_.data); }

 private:
  ScratchBlock block_;
  bool none_ = false;  // no elements are wanted: nothing is allocated
};

}  // namespace attn

#endif  // ATTN_DRIVERS_SCRATCH_H_
