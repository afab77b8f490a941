// SPDX-License-Identifier: Apache-2.0
#include "attn/rotary.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "drivers/attention_task.h"
#include "drivers/parallel.h"
#include "drivers/rows.h"

namespace attn {
namespace {

template <class T>
Status CheckRotary(const Backend& backend, const View<const T, 4>& x,
                   const RotaryTables<T>& tables) {
  ATTN_RETURN_IF_ERROR(CheckInput("X", x).status());
  ATTN_RETURN_IF_ERROR(CheckInput("cos", tables.cos).status());
  const auto [rows, half] = tables.cos.shape;
  ATTN_RETURN_IF_ERROR(CheckGiven("sin", tables.sin, {rows, half}));
  const auto [batch, heads, tokens, width] = x.shape;
  if (2 * half > width) {
    return InvalidArgument("cos has width ", half, ", so ", 2 * half, " channels turn, X has ",
                           width);
  }
  if (!backend.Supports(Op::kRotaryEmbedding, DTypeOf<T>())) {
    return Unsupported(backend.name, " has no ", Name(Op::kRotaryEmbedding), " of ",
                       Name(DTypeOf<T>()));
  }
  ATTN_RETURN_IF_ERROR(CheckOptional("positions", tables.positions));
  if (!tables.positions.present()) {
    if (tokens <= rows) return {};
    return InvalidArgument("X has ", tokens, " tokens, cos has ", rows, " rows");
  }
  ATTN_RETURN_IF_ERROR(CheckShape("positions", tables.positions.shape, {batch, tokens}));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t s = 0; s < tokens; ++s) {
      const int64_t position = tables.positions(b, s);
      if (position >= 0 && position < rows) continue;
      return InvalidArgument("positions[", b, "][", s, "] is ", position, ", cos has ", rows,
                             " rows");
    }
  }
  return {};
}

// An item of work: so many tokens of so many heads. The angles of the tokens (128 KiB of f32 at
// width 128) stay in the second-level cache while the heads turn, and a head's tokens are a run of
// memory. 32 tokens of all heads were two thirds as fast where X fits the third-level cache.
struct ItemSize {
  int64_t tokens, heads;
};
constexpr ItemSize kHeadByHead = {256, 8};
// Where a token's heads lie together.
constexpr ItemSize kTokenByToken = {32, 64};

// Up to kRowsAtOnce rows of the tensor and of the tables, handed to the kernel together.
template <class T>
class Chunk {
 public:
  // `scratch`: null where all rows are dense.
  Chunk(const Backend& backend, const View<const T, 4>& x, const RotaryTables<T>& tables,
        bool interleaved, T direction, const View<T, 4>& y, T* scratch)
      : run_(backend.table<T>().rotary), x_(x), y_(y), tables_(tables), scratch_(scratch) {
    task_ = {.half = tables.cos.shape[1],
             .width = x.shape[3],
             .interleaved = interleaved,
             .direction = direction};
    from_.data = x.data, to_.data = y.data, cos_.data = tables.cos.data,
    sin_.data = tables.sin.data;
  }

  void Add(int64_t b, int64_t h, int64_t s) {
    const int64_t row = tables_.positions.present() ? tables_.positions(b, s) : s;
    from_[count_] = x_.Offset(b, h, s, 0);
    to_[count_] = y_.Offset(b, h, s, 0);
    cos_[count_] = row * tables_.cos.strides[0];
    sin_[count_] = row * tables_.sin.strides[0];
    if (++count_ == kRowsAtOnce) Flush();
  }

  void Flush() {
    if (count_ == 0) return;
    if (scratch_ == nullptr) {
      Run(from_, cos_, sin_, to_);
    } else {
      const int64_t width = task_.width, half = task_.half;
      const Rows<T> x(scratch_, width), cos(scratch_ + count_ * width, half),
          sin(scratch_ + count_ * (width + half), half);
      CopyRows(from_, x_.strides[3], count_, width, x, 1);
      CopyRows(cos_, tables_.cos.strides[1], count_, half, cos, 1);
      CopyRows(sin_, tables_.sin.strides[1], count_, half, sin, 1);
      Run(x, cos, sin, x);
      CopyRows(x, 1, count_, width, to_, y_.strides[3]);
    }
    count_ = 0;
  }

 private:
  template <class U>
  void Run(const Rows<U>& x, const Rows<U>& cos, const Rows<U>& sin, const Rows<T>& y) {
    task_.x = x.data, task_.x_row = x.at.data();
    task_.cos = cos.data, task_.cos_row = cos.at.data();
    task_.sin = sin.data, task_.sin_row = sin.at.data();
    task_.y = y.data, task_.y_row = y.at.data();
    task_.rows = count_;
    run_(task_);
  }

  void (*run_)(const RotaryTask<T>&);
  const View<const T, 4>& x_;
  const View<T, 4>& y_;
  const RotaryTables<T>& tables_;
  T* scratch_;
  RotaryTask<T> task_;
  Rows<const T> from_, cos_, sin_;
  Rows<T> to_;
  int64_t count_ = 0;
};

// Turns by the tables' angles times `direction`, 1 or -1.
template <class T>
Status Turn(const Backend& backend, const View<const T, 4>& x, const RotaryTables<T>& tables,
            RotaryPairing pairing, T direction, const View<T, 4>& y) {
  ATTN_RETURN_IF_ERROR(CheckRotary(backend, x, tables));
  ATTN_RETURN_IF_ERROR(CheckResult("Y", y, x.shape));
  const auto [batch, heads, tokens, width] = x.shape;
  const bool dense =
      HasDenseRows(x) && HasDenseRows(y) && HasDenseRows(tables.cos) && HasDenseRows(tables.sin);
  // In the order in which they lie, so that memory is read as one stream.
  const bool heads_inside = std::abs(x.strides[1]) < std::abs(x.strides[2]);
  const ItemSize size = heads_inside ? kTokenByToken : kHeadByHead;
  const int64_t blocks = (tokens + size.tokens - 1) / size.tokens;
  const int64_t groups = (heads + size.heads - 1) / size.heads;
  if (batch * heads * tokens * width == 0) return {};
  const int64_t most =
      std::min(kRowsAtOnce, std::min(heads, size.heads) * std::min(tokens, size.tokens));
  const int64_t elements = dense ? 0 : most * (width + 2 * tables.cos.shape[1]);
  const WorkerScratch<T> scratch(backend, elements);
  if (!scratch.ok()) return NoScratch(elements);
  const double work =
      3.0 * static_cast<double>(batch * heads * tokens) * static_cast<double>(width);
  ForEachItem(backend, batch * blocks * groups, work, [&](int64_t item, int64_t worker) {
    const int64_t b = item / groups / blocks;
    const int64_t s = item / groups % blocks * size.tokens, h = item % groups * size.heads;
    const int64_t end_s = std::min(tokens, s + size.tokens);
    const int64_t end_h = std::min(heads, h + size.heads);
    Chunk<T> chunk(backend, x, tables, pairing == RotaryPairing::kInterleaved, direction, y,
                   dense ? nullptr : scratch.of(worker));
    if (heads_inside) {
      for (int64_t i = s; i < end_s; ++i) {
        for (int64_t j = h; j < end_h; ++j) chunk.Add(b, j, i);
      }
    } else {
      for (int64_t j = h; j < end_h; ++j) {
        for (int64_t i = s; i < end_s; ++i) chunk.Add(b, j, i);
      }
    }
    chunk.Flush();
  });
  return {};
}

}  // namespace

template <class T>
Status RotaryEmbedding(const Backend& backend, const View<const T, 4>& x,
                       const RotaryTables<T>& tables, RotaryPairing pairing, const View<T, 4>& y) {
  return Turn(backend, x, tables, pairing, T{1}, y);
}

template <class T>
Status RotaryEmbeddingBackward(const Backend& backend, const View<const T, 4>& d_y,
                               const RotaryTables<T>& tables, RotaryPairing pairing,
                               const View<T, 4>& d_x) {
  return Turn(backend, d_y, tables, pairing, T{-1}, d_x);
}

template <class T>
Status FillRotaryTables(double base, const View<T, 2>& cos, const View<T, 2>& sin) {
  ATTN_RETURN_IF_ERROR(CheckOutput("cos", cos));
  ATTN_RETURN_IF_ERROR(CheckResult("sin", sin, cos.shape));
  if (!std::isfinite(base) || !(base > 0)) {
    return InvalidArgument("base is not a finite number above 0");
  }
  const auto [rows, half] = cos.shape;
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t k = 0; k < half; ++k) {
      const double turn = std::pow(base, -static_cast<double>(k) / static_cast<double>(half));
      const double angle = static_cast<double>(p) * turn;
      cos(p, k) = static_cast<T>(std::cos(angle));
      sin(p, k) = static_cast<T>(std::sin(angle));
    }
  }
  return {};
}

#define ATTN_INSTANTIATE(T)                                                                        \
  template Status RotaryEmbedding(const Backend&, const View<const T, 4>&, const RotaryTables<T>&, \
                                  RotaryPairing, const View<T, 4>&);                               \
  template Status RotaryEmbeddingBackward(const Backend&, const View<const T, 4>&,                 \
                                          const RotaryTables<T>&, RotaryPairing,                   \
                                          const View<T, 4>&);                                      \
  template Status FillRotaryTables(double, const View<T, 2>&, const View<T, 2>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#undef ATTN_INSTANTIATE

}  // namespace attn
