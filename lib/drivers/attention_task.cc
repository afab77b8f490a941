// SPDX-License-Identifier: Apache-2.0
#include "drivers/attention_task.h"

namespace attn {
namespace {

Status Mismatch(const char* a, const char* a_what, int64_t a_value, const char* b,
                const char* b_what, int64_t b_value) {
  return InvalidArgument(a, " has ", a_what, " ", a_value, ", ", b, " has ", b_what, " ", b_value);
}

const char* NotFinite(double x) { return std::isnan(x) ? "nan" : "infinite"; }

// In the type of the computation as well: what a kernel multiplies by is its rounding.
template <class T>
Status CheckOptions(const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale)) {
    return InvalidArgument("scale is ", NotFinite(*options.scale), ", a finite number is needed");
  }
  if (!std::isfinite(options.softcap)) {
    return InvalidArgument("softcap is ", NotFinite(options.softcap),
                           ", a finite number is needed");
  }
  if (options.scale && !std::isfinite(static_cast<Compute<T>>(*options.scale))) {
    return InvalidArgument("scale does not fit ", Name(DTypeOf<Compute<T>>()));
  }
  const auto cap = static_cast<Compute<T>>(options.softcap);
  if (options.softcap > 0 && (!std::isfinite(cap) || !std::isfinite(1 / cap))) {
    return InvalidArgument("softcap or its inverse does not fit ", Name(DTypeOf<Compute<T>>()));
  }
  if (options.softcap < 0) {
    return InvalidArgument("softcap is negative; 0 is none, above 0 is the cap");
  }
  for (const auto& [side, value] :
       {std::pair{"left", options.window.left}, {"right", options.window.right}}) {
    if (value && *value < 0) {
      return InvalidArgument("window: ", side, " is ", *value, ", needed is 0 or more, or none");
    }
  }
  return {};
}

// Each extent is that of the scores or 1.
template <class M>
Status CheckMask(const char* what, const View<const M, 4>& mask, const Shape<4>& scores) {
  if (!mask.present()) return CheckOptional(what, mask);
  for (size_t i = 0; i < 4; ++i) {
    if (mask.shape[i] != scores[i] && mask.shape[i] != 1) {
      return InvalidArgument(what, ": axis ", static_cast<int64_t>(i), " has extent ",
                             mask.shape[i], ", needed is ", scores[i], " or 1");
    }
  }
  return CheckInput(what, mask).status();
}

template <class M>
int64_t Step(const View<const M, 4>& mask, size_t axis) {
  return mask.shape[axis] == 1 ? 0 : mask.strides[axis];
}

template <class M>
const M* MaskAt(const View<const M, 4>& mask, int64_t b, int64_t h) {
  return mask.present() ? mask.data + b * Step(mask, 0) + h * Step(mask, 1) : nullptr;
}

// A page table says which sequence a page belongs to; K and V have no batch.
template <class T>
Status CheckPages(const AttentionInputs<T>& in) {
  if (!Paged(in)) return CheckOptional("page_table", in.page_table);
  const auto [sequences, columns] = in.page_table.shape;
  const int64_t page_size = in.k.shape[2];
  if (sequences != in.q.shape[0]) {
    return Mismatch("page_table", "batch", sequences, "Q", "batch", in.q.shape[0]);
  }
  if (page_size == 0 && columns != 0) {
    return InvalidArgument("K has pages of 0 keys, page_table has ", columns, " of them");
  }
  int64_t capacity = 0;
  if (__builtin_mul_overflow(columns, page_size, &capacity)) {
    return InvalidArgument("page_table has ", columns, " pages of ", page_size,
                           " keys: their number overflows");
  }
  return {};
}

// Those that lengths, which were checked, say are used.
template <class T>
Status CheckUsedPages(const AttentionInputs<T>& in) {
  if (!Paged(in)) return {};
  const int64_t pages = in.k.shape[0], page_size = in.k.shape[2];
  for (int64_t b = 0; b < in.q.shape[0]; ++b) {
    const int64_t keys = in.kv_lens.present() ? in.kv_lens(b) : KeyCapacity(in);
    for (int64_t p = 0; p * page_size < keys; ++p) {
      const int64_t page = in.page_table(b, p);
      if (page < 0 || page >= pages) {
        return InvalidArgument("page_table[", b, "][", p, "] is ", page, ", K has ", pages,
                               " pages");
      }
    }
  }
  return {};
}

// Query heads in groups, widths and options; batch and length are the caller's.
template <class T>
Status CheckHeads(const View<const T, 4>& queries, const View<const T, 4>& keys,
                  const AttentionOptions& options) {
  if (auto n = CheckInput("Q", queries); !n.ok()) return n.status();
  if (auto n = CheckInput("K", keys); !n.ok()) return n.status();
  const Shape<4>&q = queries.shape, &k = keys.shape;
  if (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0) {
    return InvalidArgument("Q has ", q[1], " heads, not a multiple of K's ", k[1]);
  }
  if (q[3] < 1) return InvalidArgument("Q has width ", q[3], ", at least 1 is needed");
  if (k[3] != q[3]) return Mismatch("K", "width", k[3], "Q", "width", q[3]);
  return CheckOptions<T>(options);
}

}  // namespace

template <class T>
Status CheckQueriesKeys(const View<const T, 4>& q, const View<const T, 4>& k,
                        const AttentionOptions& options) {
  ATTN_RETURN_IF_ERROR(CheckHeads(q, k, options));
  if (k.shape[0] == q.shape[0]) return {};
  return Mismatch("K", "batch", k.shape[0], "Q", "batch", q.shape[0]);
}

template <class T>
Status CheckInputs(const AttentionInputs<T>& in, const AttentionOptions& options) {
  ATTN_RETURN_IF_ERROR(CheckPages(in));
  ATTN_RETURN_IF_ERROR(Paged(in) ? CheckHeads(in.q, in.k, options)
                                 : CheckQueriesKeys(in.q, in.k, options));
  if (auto n = CheckInput("V", in.v); !n.ok()) return n.status();
  const Shape<4>&q = in.q.shape, &k = in.k.shape, &v = in.v.shape;
  if (v[0] != k[0]) {
    const char* const axis = Paged(in) ? "pages" : "batch";
    return Mismatch("V", axis, v[0], "K", axis, k[0]);
  }
  if (v[1] != k[1]) return Mismatch("V", "heads", v[1], "K", "heads", k[1]);
  if (v[2] != k[2]) return Mismatch("V", "length", v[2], "K", "length", k[2]);
  if (v[3] < 1) return InvalidArgument("V has width ", v[3], ", at least 1 is needed");
  if (kPageOnly) return {};
  const int64_t keys = KeyCapacity(in);
  const Shape<4> scores = {q[0], q[1], q[2], keys};
  ATTN_RETURN_IF_ERROR(CheckMask("mask_keep", in.mask_keep, scores));
  ATTN_RETURN_IF_ERROR(CheckMask("mask_add", in.mask_add, scores));
  ATTN_RETURN_IF_ERROR(CheckOptional("sinks", in.sinks));
  ATTN_RETURN_IF_ERROR(CheckOptional("kv_lens", in.kv_lens));
  if (in.sinks.present()) ATTN_RETURN_IF_ERROR(CheckShape("sinks", in.sinks.shape, {q[1]}));
  for (int64_t h = 0; in.sinks.present() && h < q[1]; ++h) {
    // An infinite one would leave nothing for the keys, and 0 times inf for a row without any.
    const Compute<T> sink = in.sinks(h);
    if (std::isnan(sink) || sink == std::numeric_limits<Compute<T>>::infinity()) {
      return InvalidArgument("sinks[", h, "] is ", NotFinite(static_cast<double>(sink)),
                             ", needed is a finite number or -inf");
    }
  }
  if (in.kv_lens.present()) ATTN_RETURN_IF_ERROR(CheckShape("kv_lens", in.kv_lens.shape, {q[0]}));
  for (int64_t b = 0; in.kv_lens.present() && b < q[0]; ++b) {
    if (in.kv_lens(b) < 0 || in.kv_lens(b) > keys) {
      return InvalidArgument("kv_lens[", b, "] is ", in.kv_lens(b), ", needed is 0 to ", keys);
    }
  }
  return CheckUsedPages(in);
}

template <class T>
Status CheckBackward(const AttentionInputs<T>& in, const AttentionOptions& options,
                     const AttentionUpstream<T>& up, const AttentionGradients<T>& grad) {
  if (Paged(in)) return InvalidArgument("page_table: backward takes no pages");
  ATTN_RETURN_IF_ERROR(CheckInputs(in, options));
  const auto [batch, heads, queries, d] = in.q.shape;
  const Shape<4> o_shape = {batch, heads, queries, in.v.shape[3]};
  const Shape<3> lse_shape = {batch, heads, queries};
  ATTN_RETURN_IF_ERROR(CheckGiven("O", up.o, o_shape));
  ATTN_RETURN_IF_ERROR(CheckGiven("LSE", up.lse, lse_shape));
  ATTN_RETURN_IF_ERROR(CheckGiven("dO", up.d_o, o_shape));
  ATTN_RETURN_IF_ERROR(CheckOptional("dLSE", up.d_lse));
  ATTN_RETURN_IF_ERROR(CheckOptional("dSinks", grad.d_sinks));
  if (up.d_lse.present()) ATTN_RETURN_IF_ERROR(CheckShape("dLSE", up.d_lse.shape, lse_shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dQ", grad.dq, in.q.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dK", grad.dk, in.k.shape));
  ATTN_RETURN_IF_ERROR(CheckResult("dV", grad.dv, in.v.shape));
  if (in.sinks.present()) ATTN_RETURN_IF_ERROR(CheckResult("dSinks", grad.d_sinks, {heads}));
  if (!in.sinks.present() && grad.d_sinks.present()) {
    return InvalidArgument("dSinks is present, sinks are not");
  }
  return {};
}

template <class T>
AttentionTask<T> SharedTask(const AttentionInputs<T>& in, const AttentionOptions& options) {
  AttentionTask<T> task = {};
  task.q_row = in.q.strides[2], task.q_col = in.q.strides[3];
  task.k_row = in.k.strides[2], task.k_col = in.k.strides[3];
  task.v_row = in.v.strides[2], task.v_col = in.v.strides[3];
  task.queries = task.query_end = in.q.shape[2], task.keys = KeyCapacity(in);
  task.d = in.q.shape[3], task.dv = in.v.shape[3];
  task.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(task.d)));
  task.softcap = options.softcap;
  task.keep = in.mask_keep.data, task.add = in.mask_add.data, task.sink = in.sinks.data;
  task.keep_row = Step(in.mask_keep, 2), task.keep_col = Step(in.mask_keep, 3);
  task.add_row = Step(in.mask_add, 2), task.add_col = Step(in.mask_add, 3);
  return task;
}

template <class T>
void PointAtHead(const AttentionInputs<T>& in, const AttentionOptions& options, int64_t b,
                 int64_t h, AttentionTask<T>& task) {
  const int64_t group = in.q.shape[1] / in.k.shape[1];
  task.q = At(in.q, b, h);
  const int64_t at = Paged(in) ? 0 : b;  // pages: the first one
  task.k = At(in.k, at, h / group);
  task.v = At(in.v, at, h / group);
  task.keep = MaskAt(in.mask_keep, b, h);
  task.add = MaskAt(in.mask_add, b, h);
  task.sink = in.sinks.present() ? &in.sinks(h) : nullptr;
  task.keys = in.kv_lens.present() ? in.kv_lens(b) : KeyCapacity(in);
  const Band band(options.causal, options.window, task.queries, task.keys);
  task.low = band.low, task.high = band.high;
}

#define ATTN_INSTANTIATE_CHECKS(T)                                                   \
  template Status CheckQueriesKeys(const View<const T, 4>&, const View<const T, 4>&, \
                                   const AttentionOptions&);                         \
  template Status CheckInputs(const AttentionInputs<T>&, const AttentionOptions&);   \
  template Status CheckBackward(const AttentionInputs<T>&, const AttentionOptions&,  \
                                const AttentionUpstream<T>&, const AttentionGradients<T>&);
#define ATTN_INSTANTIATE(T)                                                                       \
  ATTN_INSTANTIATE_CHECKS(T)                                                                      \
  template AttentionTask<T> SharedTask(const AttentionInputs<T>&, const AttentionOptions&);       \
  template void PointAtHead(const AttentionInputs<T>&, const AttentionOptions&, int64_t, int64_t, \
                            AttentionTask<T>&);
ATTN_INSTANTIATE(float)
ATTN_INSTANTIATE(double)
#if !defined(ATTN_PAGE_ONLY)
ATTN_INSTANTIATE_CHECKS(BFloat16)
ATTN_INSTANTIATE_CHECKS(Float16)
#endif
#undef ATTN_INSTANTIATE
#undef ATTN_INSTANTIATE_CHECKS

}  // namespace attn
