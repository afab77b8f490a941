// SPDX-License-Identifier: Apache-2.0
#include "attn/rotary.h"

#include "abi/abi.h"
#include "abi/threads.h"

namespace attn::abi {
namespace {

static_assert(static_cast<int>(RotaryPairing::kInterleaved) == ATTN_INTERLEAVED &&
              static_cast<int>(RotaryPairing::kHalf) == ATTN_HALF);

Status CheckPairing(int32_t pairing) {
  if (pairing == ATTN_INTERLEAVED || pairing == ATTN_HALF) return {};
  return InvalidArgument("pairing ", int64_t{pairing}, ", needed is 0 (interleaved) or 1 (half)");
}

template <class T>
Status ReadTables(const attn_tensor* cos, const attn_tensor* sin, const attn_tensor* positions,
                  RotaryTables<T>& to) {
  ATTN_RETURN_IF_ERROR(Read("cos", cos, to.cos));
  ATTN_RETURN_IF_ERROR(Read("sin", sin, to.sin));
  return ReadOptional("positions", positions, to.positions);
}

}  // namespace
}  // namespace attn::abi

using namespace attn;
using namespace attn::abi;

attn_status attn_rotary_embedding(int32_t pairing, const attn_tensor* x, const attn_tensor* cos,
                                  const attn_tensor* sin, const attn_tensor* positions,
                                  const attn_tensor* y) {
  return Dispatch("x", x, [&]<class T>(T) -> Status {
    View<const T, 4> in;
    RotaryTables<T> tables;
    View<T, 4> out;
    ATTN_RETURN_IF_ERROR(CheckPairing(pairing));
    ATTN_RETURN_IF_ERROR(Read("x", x, in));
    ATTN_RETURN_IF_ERROR(ReadTables(cos, sin, positions, tables));
    ATTN_RETURN_IF_ERROR(Read("y", y, out));
    const auto on = Choose(nullptr, Op::kRotaryEmbedding, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(**on, [&](const Backend& backend) {
      return RotaryEmbedding(backend, in, tables, static_cast<RotaryPairing>(pairing), out);
    });
  });
}

attn_status attn_rotary_embedding_backward(int32_t pairing, const attn_tensor* d_y,
                                           const attn_tensor* cos, const attn_tensor* sin,
                                           const attn_tensor* positions, const attn_tensor* d_x) {
  return Dispatch("d_y", d_y, [&]<class T>(T) -> Status {
    View<const T, 4> upstream;
    RotaryTables<T> tables;
    View<T, 4> gradient;
    ATTN_RETURN_IF_ERROR(CheckPairing(pairing));
    ATTN_RETURN_IF_ERROR(Read("d_y", d_y, upstream));
    ATTN_RETURN_IF_ERROR(ReadTables(cos, sin, positions, tables));
    ATTN_RETURN_IF_ERROR(Read("d_x", d_x, gradient));
    const auto on = Choose(nullptr, Op::kRotaryEmbedding, DTypeOf<T>());
    if (!on.ok()) return on.status();
    return OnThreads(**on, [&](const Backend& backend) {
      return RotaryEmbeddingBackward(backend, upstream, tables, static_cast<RotaryPairing>(pairing),
                                     gradient);
    });
  });
}

attn_status attn_rotary_tables(double base, const attn_tensor* cos, const attn_tensor* sin) {
  return Dispatch("cos", cos, [&]<class T>(T) -> Status {
    View<T, 2> cosines, sines;
    ATTN_RETURN_IF_ERROR(Read("cos", cos, cosines));
    ATTN_RETURN_IF_ERROR(Read("sin", sin, sines));
    return FillRotaryTables(base, cosines, sines);
  });
}
