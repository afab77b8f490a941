// SPDX-License-Identifier: Apache-2.0
// Sizes, positions and options at the end of their range, and beyond it: an error with its name.
#include <limits>

#include "attention_rules.h"

namespace attn {
namespace {

using namespace testing;  // NOLINT: the whole file is about these

TEST_CASE("positions beyond 64 bits saturate, after they are added up") {
  const auto band = [](int64_t offset, std::optional<int64_t> left, std::optional<int64_t> right) {
    CausalMask mask;
    mask.query_offset = offset;
    return Band(mask, {left, right}, 3, 3);
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CHECK(band(-(int64_t{1} << 62), {}, (int64_t{1} << 62) - 2).high == -2);
  CHECK(band(kMost, kMost, {}).low == 0);
  CHECK(band(kLeast, kMost, {}).low == -Band::kFar);
  CHECK(band(kMost, {}, kMost).high == Band::kFar);
}

TEST_CASE("sizes whose scratch overflows are an error") {
  const float x = 0;
  float y = 0;
  const Shape<4> shape = {1, 1, 1, int64_t{1} << 58}, still = {0, 0, 0, 0};
  const View<const float, 4> q(&x, shape, still), v(&x, {1, 1, 1, 1});
  for (const Backend& backend : Backends()) {
    if (&backend == &ReferenceBackend()) continue;  // needs none, and would take years
    const Status status = AttentionForward<float>(backend, {q, q, v}, {}, {{&y, {1, 1, 1, 1}}});
    CHECK_MESSAGE(status.code() == StatusCode::kOutOfMemory, backend.name, ": ", status.message());
  }
}

TEST_CASE("an optional tensor that has a shape and no data is not taken for none") {
  const Problem<float> p({.queries = 3, .keys = 4});
  const auto message = [&](const AttentionInputs<float>& in) {
    return AttentionForward<float>(DefaultBackend(), in, {}, {p.o, p.lse}).message();
  };
  AttentionInputs<float> in = p.inputs();
  in.mask_keep = View<const uint8_t, 4>(nullptr, {1, 1, 3, 4});
  CHECK(message(in) == "mask_keep is absent, 12 elements are needed");
  in = p.inputs();
  in.mask_add = View<const float, 4>(nullptr, {1, 1, 3, 1});
  CHECK(message(in) == "mask_add is absent, 3 elements are needed");
  in = p.inputs();
  in.sinks = View<const float, 1>(nullptr, {1});
  CHECK(message(in) == "sinks is absent, 1 elements are needed");
  in = p.inputs();
  in.kv_lens = View<const int64_t, 1>(nullptr, {5});
  CHECK(message(in) == "kv_lens is absent, 5 elements are needed");
}

TEST_CASE("what is wrong with a rule is named") {
  const Problem<float> p({.batch = 2, .heads = 2, .queries = 3, .keys = 4});
  const auto message = [&](const Rules& rules, const AttentionOptions& options) {
    p.o.Fill(7.0f);
    const Rules::For<float> with(rules);
    const Status status =
        AttentionForward<float>(ReferenceBackend(), with(p.inputs()), options, {p.o, p.lse});
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(p.o(0, 0, 0, 0) == 7.0f);
    return status.message();
  };
  AttentionOptions window, cap;
  window.window.left = -1;
  CHECK(message({}, window) == "window: left is -1, needed is 0 or more, or none");
  cap.softcap = -3;
  CHECK(message({}, cap) == "softcap is negative; 0 is none, above 0 is the cap");
  cap.softcap = kInf;
  CHECK(message({}, cap) == "softcap is infinite, a finite number is needed");
  CHECK(message({.keep_shape = {1, 1, 2, 4}, .keep = std::vector<uint8_t>(8)}, {}) ==
        "mask_keep: axis 2 has extent 2, needed is 3 or 1");
  CHECK(message({.add_shape = {2, 2, 3, 5}, .add = std::vector<float>(60)}, {}) ==
        "mask_add: axis 3 has extent 5, needed is 4 or 1");
  CHECK(message({.sinks = {1, 2, 3}}, {}) == "sinks: axis 0 has extent 3, needed is 2");
  CHECK(message({.sinks = {1, NAN}}, {}) == "sinks[1] is nan, needed is a finite number or -inf");
  AttentionOptions wide;
  wide.scale = 1e300;
  CHECK(message({}, wide) == "scale does not fit f32");
  cap.softcap = 1e-40;
  CHECK(message({}, cap) == "softcap or its inverse does not fit f32");
  CHECK(message({.kv_lens = {4}}, {}) == "kv_lens: axis 0 has extent 1, needed is 2");
  CHECK(message({.kv_lens = {4, 5}}, {}) == "kv_lens[1] is 5, needed is 0 to 4");
  CHECK(message({.kv_lens = {-1, 4}}, {}) == "kv_lens[0] is -1, needed is 0 to 4");

  const Problem<float> packed({.heads = 1, .queries = 3, .keys = 4});
  const auto boundaries = [&](std::vector<int64_t> q, std::vector<int64_t> k) {
    const PackedSequences sequences = {{q.data(), {static_cast<int64_t>(q.size())}},
                                       {k.data(), {static_cast<int64_t>(k.size())}}};
    return AttentionForwardPacked<float>(ReferenceBackend(), packed.inputs(), sequences, {},
                                         {packed.o, packed.lse})
        .message();
  };
  CHECK(boundaries({1, 3}, {0, 4}) == "cu_seqlens_q[0] is 1, needed is 0");
  CHECK(boundaries({0, 3}, {0, 5, 4}) == "cu_seqlens_k[2] is 4, below 5 before it");
  CHECK(boundaries({0, 2}, {0, 4}) == "cu_seqlens_q[1] is 2, Q has length 3");
  CHECK(boundaries({0, 1, 3}, {0, 4}) == "cu_seqlens_q has 3 entries, cu_seqlens_k 2");
}

}  // namespace
}  // namespace attn
