// SPDX-License-Identifier: Apache-2.0
// Sixteen hexadecimal digits that stand for the bits of some two hundred thousand results.
#ifndef ATTN_DIGEST_H_
#define ATTN_DIGEST_H_

#include <cstdint>
#include <string>

#include "attn/backend.h"
#include "attn/status.h"

namespace attn {

// FNV-1a, 64 bits (Fowler, Noll, Vo), over the bits of O, LSE and every gradient of small problems
// that between them use every rule of attention, each form, keys in parts, softmax
// of rows, matrix products, merged states, RMS norm and rotary embeddings. Inputs are NumPy's
// default_rng(2017).random().
//
// On the portable backend it is kBitwiseDigest (of f64: kBitwiseDigestF64) on every machine and in
// every browser. Others fuse and add in an order of their own, and give digests of their own.
// Errors: the backend lacks an operation or the dtype, which is f32 or f64; no memory (2 MB).
Result<uint64_t> BitwiseDigest(const Backend& backend, DType dtype = DType::kF32);

// What the portable backend gives natively (x86-64; clang 19 and g++ 12). The tests compare it
// wherever they run.
inline constexpr uint64_t kBitwiseDigest = 0x3669e8bae429cadb;
inline constexpr uint64_t kBitwiseDigestF64 = 0x5776d1f05382605b;

// "0x0123456789abcdef" without the 0x.
std::string DigestText(uint64_t digest);

}  // namespace attn

#endif  // ATTN_DIGEST_H_
