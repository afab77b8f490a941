// SPDX-License-Identifier: Apache-2.0
// The library as pytorch.py calls it, by ctypes: dense f32 tensors of one sequence, [H][S][D].
// Each function returns null, or a text that says what is wrong. Not for several threads at a time.
#include <cstdint>
#include <memory>
#include <string>

#include "attn/attention.h"
#include "attn/backend.h"
#include "attn/thread_pool.h"

#define ATTN_PEER extern "C" __attribute__((visibility("default")))

namespace {

std::unique_ptr<attn::ThreadPool> pool;
attn::Backend backend;
std::string error;

const char* Text(const attn::Status& status) {
  error = status.message();
  return status.ok() ? nullptr : error.c_str();
}

attn::AttentionOptions Options(bool causal) {
  attn::AttentionOptions options;
  options.causal.enabled = causal;
  return options;
}

}  // namespace

// What the other functions run on. name: null for the default.
ATTN_PEER const char* attn_peer_open(const char* name, int64_t threads) {
  backend = attn::DefaultBackend();
  if (name != nullptr) {
    const auto found = attn::FindBackend(name);
    if (!found.ok()) return Text(found.status());
    backend = **found;
  }
  if (threads == 1) return nullptr;  // the calling thread does all, as for one that has no pool
  auto created = attn::ThreadPool::Create(threads);
  if (!created.ok()) return Text(created.status());
  pool = std::move(*created);
  backend = backend.On(*pool);
  return nullptr;
}

ATTN_PEER const char* attn_peer_backend() { return backend.name.c_str(); }

// q, k, v, o: [heads][n][d]; lse: [heads][n].
ATTN_PEER const char* attn_peer_forward(int64_t heads, int64_t n, int64_t d, bool causal,
                                        const float* q, const float* k, const float* v, float* o,
                                        float* lse) {
  const attn::Shape<4> shape = {1, heads, n, d};
  return Text(attn::AttentionForward<float>(backend, {{q, shape}, {k, shape}, {v, shape}},
                                            Options(causal), {{o, shape}, {lse, {1, heads, n}}}));
}

// o and lse are forward's; d_o, dq, dk, dv: [heads][n][d].
ATTN_PEER const char* attn_peer_backward(int64_t heads, int64_t n, int64_t d, bool causal,
                                         const float* q, const float* k, const float* v,
                                         const float* o, const float* lse, const float* d_o,
                                         float* dq, float* dk, float* dv) {
  const attn::Shape<4> shape = {1, heads, n, d};
  return Text(attn::AttentionBackward<float>(
      backend, {{q, shape}, {k, shape}, {v, shape}}, Options(causal),
      {{o, shape}, {lse, {1, heads, n}}, {d_o, shape}}, {{dq, shape}, {dk, shape}, {dv, shape}}));
}

// One query: q, o: [heads][1][d]; k, v: [kv_heads][keys][d].
ATTN_PEER const char* attn_peer_decode(int64_t heads, int64_t kv_heads, int64_t keys, int64_t d,
                                       const float* q, const float* k, const float* v, float* o) {
  const attn::Shape<4> row = {1, heads, 1, d}, cache = {1, kv_heads, keys, d};
  return Text(attn::AttentionForward<float>(backend, {{q, row}, {k, cache}, {v, cache}},
                                            Options(false), {{o, row}, {}}));
}
