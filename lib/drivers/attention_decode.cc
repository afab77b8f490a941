// SPDX-License-Identifier: Apache-2.0
// Few queries against many keys: the work is split over sequences, key/value heads, rows and parts
// of the keys, and the parts' states merge in order. The split depends on the problem alone.
#include <algorithm>

#include "drivers/attention_task.h"
#include "drivers/parallel.h"
#include "math/elementary.h"
#include "math/visibility.h"

namespace attn {
namespace {

// A part is long enough that its state, Dv + 1 numbers a row, costs nothing beside it.
constexpr int64_t kPartKeys = 1024;
constexpr int64_t kMostParts = 64;
// Rows (query and head) of an item. Their queries and outputs are to stay in a second-level cache.
constexpr int64_t kQueryItemRows = 64;

int64_t Ceil(int64_t n, int64_t to) { return (n + to - 1) / to; }

// The keys that some query of a sequence sees by its position, in `count` parts.
struct Parts {
  int64_t begin, end, count, length;

  Parts(const Band& band, int64_t queries, int64_t keys, int64_t asked)
      : begin(VisibleBegin(0, keys, band.low)),
        end(std::max(begin, VisibleEnd(queries - 1, keys, band.high))),
        count(asked > 0 ? std::clamp(asked, int64_t{1}, std::max<int64_t>(end - begin, 1))
                        : std::clamp(Ceil(end - begin, kPartKeys), int64_t{1}, kMostParts)),
        length(Ceil(end - begin, count)) {}

  int64_t Begin(int64_t part) const { return std::min(begin + part * length, end); }
};

template <class T>
struct Plan {
  const AttentionInputs<T>& in;
  const AttentionOptions& options;
  const AttentionOutputs<T>& out;
  int64_t batch, heads, queries, kv_heads, group, rows, row_items;
  int64_t parts = 1;  // the most of any sequence
  Storage storage;    // of K and V

  Plan(const AttentionInputs<T>& inputs, const AttentionOptions& how,
       const AttentionOutputs<T>& outputs, Storage stored)
      : in(inputs),
        options(how),
        out(outputs),
        batch(in.q.shape[0]),
        heads(in.q.shape[1]),
        queries(in.q.shape[2]),
        kv_heads(in.k.shape[1]),
        group(heads / kv_heads),
        rows(queries * group),
        row_items(Ceil(rows, kQueryItemRows)),
        storage(stored) {
    for (int64_t b = 0; b < batch; ++b) parts = std::max(parts, PartsOf(b).count);
  }

  Parts PartsOf(int64_t b) const {
    const int64_t keys = in.kv_lens.present() ? in.kv_lens(b) : KeyCapacity(in);
    return {Band(options.causal, options.window, queries, keys), queries, keys, options.kv_splits};
  }

  // One state for each part of the keys of a row: O [Dv], maximum and sum.
  int64_t StateElements() const {
    if (parts == 1) return 0;
    int64_t states = 0, elements = 0;
    const bool overflow = __builtin_mul_overflow(batch * heads * queries, parts, &states) ||
                          __builtin_mul_overflow(states, in.v.shape[3] + 2, &elements);
    return overflow ? -1 : elements;
  }
};

// What a part of the keys leaves of a key/value head's rows.
template <class T>
struct PartState {
  View<T, 2> o;  // [rows][Dv]
  T* max;        // [rows]
  T* sum;        // [rows], of exp(score - max)
};

template <class T>
PartState<T> StateAt(const Plan<T>& plan, T* states, int64_t head, int64_t part) {
  const int64_t dv = plan.in.v.shape[3], rows = plan.rows;
  T* const at = states + (head * plan.parts + part) * rows * (dv + 2);
  return {{at, {rows, dv}}, at + rows * dv, at + rows * (dv + 1)};
}

template <class T>
AttentionDecodeTask<T> SharedDecodeTask(const Plan<T>& plan) {
  const AttentionInputs<T>& in = plan.in;
  AttentionDecodeTask<T> task = {};
  task.head = SharedTask(in, plan.options);
  task.group = plan.group;
  task.storage = plan.storage;
  task.q_head = in.q.strides[1];
  task.keep_head = in.mask_keep.shape[1] == 1 ? 0 : in.mask_keep.strides[1];
  task.add_head = in.mask_add.shape[1] == 1 ? 0 : in.mask_add.strides[1];
  task.sink_head = in.sinks.strides[0];
  task.row_end = std::min(plan.rows, kQueryItemRows);
  if (Paged(in)) {
    task.page_table_col = in.page_table.strides[1];
    task.page_size = in.k.shape[2];
    task.k_page = in.k.strides[0], task.v_page = in.v.strides[0];
  }
  return task;
}

// At(), where the view's elements really are of 16 bits.
template <class T>
const T* HalfAt(const View<const T, 4>& view, int64_t b, int64_t h) {
  const auto* const data = reinterpret_cast<const uint16_t*>(view.data);
  return reinterpret_cast<const T*>(data + b * view.strides[0] + h * view.strides[1]);
}

// Part `part` of the keys for some rows of key/value head g of sequence b, into `states` or, where
// nothing is split, into the outputs.
template <class T>
AttentionDecodeTask<T> ItemTask(const Plan<T>& plan, AttentionDecodeTask<T> task, int64_t b,
                                int64_t g, int64_t row_item, int64_t part, T* states) {
  const AttentionInputs<T>& in = plan.in;
  PointAtHead(in, plan.options, b, g * plan.group, task.head);
  if (plan.storage != Storage::kSame) {
    task.head.k = HalfAt(in.k, Paged(in) ? 0 : b, g);
    task.head.v = HalfAt(in.v, Paged(in) ? 0 : b, g);
  }
  if (part > 0) task.head.sink = nullptr;
  if (Paged(in)) task.page_table = &in.page_table(b, 0);
  task.row_begin = row_item * kQueryItemRows;
  task.row_end = std::min(plan.rows, task.row_begin + kQueryItemRows);
  const Parts parts = plan.PartsOf(b);
  task.key_begin = parts.Begin(part), task.key_end = parts.Begin(part + 1);
  if (states == nullptr) {
    const View<T, 4>& o = plan.out.o;
    const View<T, 3>& lse = plan.out.lse;
    task.head.o = At(o, b, g * plan.group);
    task.o_head = o.strides[1], task.head.o_row = o.strides[2], task.head.o_col = o.strides[3];
    task.head.lse = lse.present() ? &lse(b, g * plan.group, 0) : nullptr;
    task.lse_head = lse.strides[1], task.head.lse_row = lse.strides[2];
    return task;
  }
  // Row r is query r / group of head r % group.
  const PartState<T> state = StateAt(plan, states, b * plan.kv_heads + g, part);
  const int64_t dv = state.o.shape[1];
  task.head.o = state.o.data;
  task.o_head = dv, task.head.o_row = plan.group * dv, task.head.o_col = 1;
  task.head.lse = state.max, task.sum = state.sum;
  task.lse_head = 1, task.head.lse_row = plan.group;
  return task;
}

// O = sum of w_p O_p / sum of w_p over the parts, w_p = sum_p exp(max_p - max), all at once and in
// f64: merged in pairs by LSE in f32, 5000 parts of one key would add up 5000 roundings (4.7e-5 of
// O), and penalties of -1e9 would leave nothing of the sums.
template <class T>
void MergeParts(const Plan<T>& plan, int64_t head, T* states) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  const int64_t b = head / plan.kv_heads, g = head % plan.kv_heads;
  const auto state = [&](int64_t part) { return StateAt(plan, states, head, part); };
  for (int64_t r = 0; r < plan.rows; ++r) {
    const int64_t h = g * plan.group + r % plan.group, i = r / plan.group;
    T max = kNone;
    for (int64_t part = 0; part < plan.parts; ++part) max = std::max(max, state(part).max[r]);
    const auto weight = [&](int64_t part) {
      const PartState<T> from = state(part);
      const double below = static_cast<double>(from.max[r]) - static_cast<double>(max);
      return static_cast<double>(from.sum[r]) * ExpOfNegative(below);
    };
    // One that saw nothing takes no part; one whose weight vanishes does: its NaN is to show.
    const auto saw = [&](int64_t part) { return state(part).sum[r] != 0; };
    double sum = 0;
    for (int64_t part = 0; part < plan.parts; ++part) sum += saw(part) ? weight(part) : 0;
    for (int64_t c = 0; c < plan.in.v.shape[3]; ++c) plan.out.o(b, h, i, c) = 0;
    for (int64_t c = 0; sum != 0 && c < plan.in.v.shape[3]; ++c) {
      double o = 0;
      for (int64_t part = 0; part < plan.parts; ++part) {
        if (saw(part)) o += weight(part) * static_cast<double>(state(part).o(r, c));
      }
      plan.out.o(b, h, i, c) = static_cast<T>(o / sum);
    }
    if (!plan.out.lse.present()) continue;
    plan.out.lse(b, h, i) =
        sum == 0 ? kNone : static_cast<T>(static_cast<double>(max) + LogOf(sum));
  }
}

}  // namespace

template <class T>
Status DecodeForward(const Backend& backend, const AttentionInputs<T>& in,
                     const AttentionOptions& options, const AttentionOutputs<T>& out,
                     Storage storage) {
  const Plan<T> plan(in, options, out, storage);
  const KernelTable<T>& table = backend.table<T>();
  const AttentionDecodeTask<T> shared = SharedDecodeTask(plan);
  const int64_t elements = table.attention_decode_scratch(shared);
  const WorkerScratch<T> scratch(backend, elements);
  if (!scratch.ok()) return NoScratch(elements);
  const int64_t state_elements = plan.StateElements();
  const Scratch<T> states(state_elements);
  if (!states.ok()) return NoScratch(state_elements);
  T* const split = plan.parts > 1 ? states.data() : nullptr;

  const int64_t kv_heads = plan.batch * plan.kv_heads;
  const int64_t items = kv_heads * plan.row_items * plan.parts;
  ForEachItem(backend, items, ForwardWork(in), [&](int64_t item, int64_t worker) {
    const int64_t part = item % plan.parts, rest = item / plan.parts;
    const int64_t row_item = rest % plan.row_items, head = rest / plan.row_items;
    AttentionDecodeTask<T> task =
        ItemTask(plan, shared, head / plan.kv_heads, head % plan.kv_heads, row_item, part, split);
    task.head.scratch = scratch.of(worker);
    table.attention_decode(task);
  });
  if (split == nullptr) return {};
  const double merging = 2.0 * static_cast<double>(state_elements);
  ForEachItem(backend, kv_heads, merging,
              [&](int64_t head, int64_t) { MergeParts(plan, head, split); });
  return {};
}

template Status DecodeForward(const Backend&, const AttentionInputs<float>&,
                              const AttentionOptions&, const AttentionOutputs<float>&, Storage);
template Status DecodeForward(const Backend&, const AttentionInputs<double>&,
                              const AttentionOptions&, const AttentionOutputs<double>&, Storage);

}  // namespace attn
