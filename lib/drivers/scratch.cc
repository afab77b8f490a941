// SPDX-License-Identifier: Apache-2.0
#include "drivers/scratch.h"

#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// A sanitizer is to see a step beyond the size that was asked for; WebAssembly has no pages that
// fault, and a page's heap is to be empty between calls.
#if defined(__EMSCRIPTEN__) || defined(__SANITIZE_ADDRESS__)
#define ATTN_KEEP_SCRATCH 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTN_KEEP_SCRATCH 0
#endif
#endif
#ifndef ATTN_KEEP_SCRATCH
#define ATTN_KEEP_SCRATCH 1
#endif

namespace attn {
namespace {

constexpr size_t kLine = 64;

ScratchBlock Allocate(size_t bytes, size_t alignment) {
  void* data = ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
  return {data, data == nullptr ? 0 : bytes};
}

#if ATTN_KEEP_SCRATCH

// malloc gives blocks of this size back to the system at once, so that each call would meet fresh
// pages: backward, with its half MiB, lost 8 to 15 points of the peak at width 128 to their faults
// and to the page walks (AVX-512 in a virtual machine, 2026-11-30).
constexpr size_t kLargePage = size_t{2} << 20;
constexpr size_t kLarge = size_t{256} << 10;
constexpr size_t kKeptMost = size_t{16} << 20;

size_t AlignmentOf(const ScratchBlock& block) { return block.bytes < kLarge ? kLine : kLargePage; }

void Free(const ScratchBlock& block) {
  ::operator delete(block.data, std::align_val_t{AlignmentOf(block)});
}

struct Kept {
  ScratchBlock block;
  ~Kept() { Free(block); }
};
thread_local Kept kept;

#endif

}  // namespace

#if ATTN_KEEP_SCRATCH

ScratchBlock TakeScratch(size_t bytes) {
  if (kept.block.bytes >= bytes && bytes > 0) return std::exchange(kept.block, {});
  if (bytes < kLarge) return Allocate(bytes, kLine);
  if (bytes > PTRDIFF_MAX - kLargePage) return {};
  const ScratchBlock block =
      Allocate((bytes + kLargePage - 1) / kLargePage * kLargePage, kLargePage);
#if defined(__linux__)
  // Whole pages, so that the advice touches nothing else; where it is not taken, nothing is lost.
  if (block.data != nullptr) (void)madvise(block.data, block.bytes, MADV_HUGEPAGE);
#endif
  return block;
}

void GiveScratch(ScratchBlock block) {
  if (block.bytes > kept.block.bytes && block.bytes <= kKeptMost) std::swap(block, kept.block);
  Free(block);
}

#else

ScratchBlock TakeScratch(size_t bytes) { return Allocate(bytes, kLine); }

void GiveScratch(ScratchBlock block) { ::operator delete(block.data, std::align_val_t{kLine}); }

#endif

}  // namespace attn
