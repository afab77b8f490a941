// SPDX-License-Identifier: Apache-2.0
#include "attn/digest.h"

#include <vector>

#include "attn/attention.h"
#include "attn/matmul.h"
#include "attn/merge.h"
#include "attn/norm.h"
#include "attn/random.h"
#include "attn/rotary.h"
#include "attn/softmax.h"

namespace attn {
namespace {

class Fnv1a {
 public:
  template <class T>
  void Add(const std::vector<T>& values) {
    for (const T value : values) {
      const auto bits = __builtin_bit_cast(std::array<uint8_t, sizeof(T)>, value);
      // From the lowest byte: all that this is compiled for are little-endian.
      for (const uint8_t byte : bits) digest_ = (digest_ ^ byte) * 0x100000001b3;
    }
  }
  uint64_t digest() const { return digest_; }

 private:
  uint64_t digest_ = 0xcbf29ce484222325;
};

struct Sizes {
  int64_t heads, kv_heads, queries, keys, d, dv;
};

// All results of one backend, in one order.
class Digester {
 public:
  explicit Digester(const Backend& backend) : backend_(backend) {}

  template <class T>
  Status Attention(const Sizes& s, const AttentionOptions& options, bool rules, bool backward) {
    const std::vector<T> q = Draw<T>(2 * s.heads * s.queries * s.d);
    const std::vector<T> k = Draw<T>(2 * s.kv_heads * s.keys * s.d);
    const std::vector<T> v = Draw<T>(2 * s.kv_heads * s.keys * s.dv);
    const std::vector<T> add = Draw<T>(s.heads * s.keys), sinks = Draw<T>(s.heads);
    std::vector<uint8_t> keep(static_cast<size_t>(s.queries * s.keys));
    for (size_t x = 0; x < keep.size(); ++x) keep[x] = x % 7 != 3;
    const std::vector<int64_t> lengths = {s.keys, s.keys - s.keys / 3};
    AttentionInputs<T> in = {{q.data(), {2, s.heads, s.queries, s.d}},
                             {k.data(), {2, s.kv_heads, s.keys, s.d}},
                             {v.data(), {2, s.kv_heads, s.keys, s.dv}}};
    if (rules) {
      in.mask_keep = {keep.data(), {1, 1, s.queries, s.keys}};
      in.mask_add = {add.data(), {1, s.heads, 1, s.keys}};
      in.sinks = {sinks.data(), {s.heads}};
      in.kv_lens = {lengths.data(), {2}};
    }
    std::vector<T> o(static_cast<size_t>(2 * s.heads * s.queries * s.dv));
    std::vector<T> lse(static_cast<size_t>(2 * s.heads * s.queries));
    const View<T, 4> o_view(o.data(), {2, s.heads, s.queries, s.dv});
    const View<T, 3> lse_view(lse.data(), {2, s.heads, s.queries});
    ATTN_RETURN_IF_ERROR(AttentionForward<T>(backend_, in, options, {o_view, lse_view}));
    fnv_.Add(o);
    fnv_.Add(lse);
    if (!backward) return {};

    const std::vector<T> d_o = Draw<T>(static_cast<int64_t>(o.size()));
    const std::vector<T> d_lse = Draw<T>(static_cast<int64_t>(lse.size()));
    std::vector<T> dq(q.size()), dk(k.size()), dv(v.size()), d_sinks(sinks.size());
    AttentionGradients<T> grad = {
        {dq.data(), in.q.shape}, {dk.data(), in.k.shape}, {dv.data(), in.v.shape}};
    if (rules) grad.d_sinks = {d_sinks.data(), {s.heads}};
    const AttentionUpstream<T> up = {
        o_view, lse_view, {d_o.data(), o_view.shape}, {d_lse.data(), lse_view.shape}};
    ATTN_RETURN_IF_ERROR(AttentionBackward<T>(backend_, in, options, up, grad));
    fnv_.Add(dq);
    fnv_.Add(dk);
    fnv_.Add(dv);
    fnv_.Add(d_sinks);
    return {};
  }

  template <class T>
  Status Others() {
    const int64_t m = 37, n = 50, depth = 41;
    const std::vector<T> a = Draw<T>(m * depth), b = Draw<T>(depth * n);
    std::vector<T> c(static_cast<size_t>(m * n)), p(c.size()), lse(static_cast<size_t>(m));
    ATTN_RETURN_IF_ERROR(Matmul<T>(backend_, {a.data(), {1, 1, m, depth}},
                                   {b.data(), {1, 1, depth, n}}, {c.data(), {1, 1, m, n}}));
    fnv_.Add(c);
    ATTN_RETURN_IF_ERROR(
        SoftmaxRows<T>(backend_, {c.data(), {m, n}}, {p.data(), {m, n}}, {lse.data(), {m}}));
    fnv_.Add(p);
    fnv_.Add(lse);
    // Two halves of a row's channels as two states.
    std::vector<T> merged(static_cast<size_t>(m * depth)), merged_lse(lse.size());
    const std::vector<T> other_lse = Draw<T>(m);
    const View<const T, 2> half_a(a.data(), {m, depth}), half_b(b.data(), {m, depth});
    ATTN_RETURN_IF_ERROR(MergeStates<T>({half_a, {lse.data(), {m}}},
                                        {half_b, {other_lse.data(), {m}}},
                                        {{merged.data(), {m, depth}}, {merged_lse.data(), {m}}}));
    fnv_.Add(merged);
    fnv_.Add(merged_lse);
    return {};
  }

  template <class T>
  Status Rows() {
    const int64_t rows = 45, width = 77, turned = 50;
    const std::vector<T> x = Draw<T>(rows * width), w = Draw<T>(width), up = Draw<T>(rows * width);
    const std::vector<T> cos = Draw<T>(rows * turned / 2), sin = Draw<T>(rows * turned / 2);
    std::vector<T> y(x.size()), d_w(w.size());
    const Shape<4> shape = {1, 1, rows, width};
    const View<const T, 4> in(x.data(), shape), d_y(up.data(), shape);
    const View<T, 4> out(y.data(), shape);
    const View<const T, 1> weight(w.data(), {width});
    ATTN_RETURN_IF_ERROR(RmsNorm<T>(backend_, in, weight, 1e-6, out));
    fnv_.Add(y);
    ATTN_RETURN_IF_ERROR(
        RmsNormBackward<T>(backend_, in, weight, 1e-6, d_y, out, {d_w.data(), {width}}));
    fnv_.Add(y);
    fnv_.Add(d_w);
    const RotaryTables<T> tables = {{cos.data(), {rows, turned / 2}},
                                    {sin.data(), {rows, turned / 2}}};
    for (const RotaryPairing pairing : {RotaryPairing::kInterleaved, RotaryPairing::kHalf}) {
      ATTN_RETURN_IF_ERROR(RotaryEmbedding<T>(backend_, in, tables, pairing, out));
      fnv_.Add(y);
    }
    return {};
  }

  uint64_t digest() const { return fnv_.digest(); }

 private:
  // Uniform on [-4, 4): scores spread far enough that weights vanish. Not normal numbers, whose
  // tail is a logarithm of the C library.
  template <class T>
  std::vector<T> Draw(int64_t n) {
    std::vector<T> values(static_cast<size_t>(n));
    for (T& value : values) value = static_cast<T>(8 * generator_.Random() - 4);
    return values;
  }

  const Backend& backend_;
  Generator generator_{2017};
  Fnv1a fnv_;
};

template <class T>
Status AddAll(Digester& to) {
  AttentionOptions plain, ruled, explicit_form, decode;
  ruled.causal.enabled = true;
  ruled.window.left = 60;
  ruled.softcap = 5;
  explicit_form.form = AttentionForm::kExplicit;
  decode.form = AttentionForm::kDecode;
  decode.kv_splits = 3;
  ATTN_RETURN_IF_ERROR(to.Attention<T>({2, 1, 100, 257, 64, 64}, plain, false, true));
  ATTN_RETURN_IF_ERROR(to.Attention<T>({4, 2, 70, 133, 40, 24}, ruled, true, true));
  ATTN_RETURN_IF_ERROR(to.Attention<T>({2, 2, 33, 65, 17, 9}, explicit_form, false, false));
  ATTN_RETURN_IF_ERROR(to.Attention<T>({8, 2, 2, 500, 32, 48}, decode, true, false));
  ATTN_RETURN_IF_ERROR(to.Others<T>());
  return to.Rows<T>();
}

}  // namespace

Result<uint64_t> BitwiseDigest(const Backend& backend, DType dtype) {
  if (backend.Lanes(dtype) == 0 || (dtype != DType::kF32 && dtype != DType::kF64)) {
    return Unsupported(backend.name, " has no digest of ", Name(dtype));
  }
  Digester digester(backend);
  ATTN_RETURN_IF_ERROR(dtype == DType::kF32 ? AddAll<float>(digester) : AddAll<double>(digester));
  return digester.digest();
}

std::string DigestText(uint64_t digest) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[digest >> shift & 15];
  return text;
}

}  // namespace attn
