// SPDX-License-Identifier: Apache-2.0
// Brings near what will be met for the first time: while some queries are worked on, the next
// queries' rows and (when causal) their new keys' rows; while a head's first queries are, the next
// block of keys. A share with each tile of scores: an L1 cache has 10 to 16 misses in flight, and a
// burst of more waits as long as the misses would.

// Rows of one tensor.
template <class T>
struct Rows {
  const T* x;
  int64_t row, col, width;

  ATTN_INLINE void Prefetch(int64_t i) const {
    if (col != 1) return;
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    for (int64_t c = 0; c < width; c += kLine) __builtin_prefetch(x + i * row + c, 0, 2);
  }
};

// kTensors tensors have a row for each query, and as many for each key.
template <class T, int kTensors>
struct Ahead {
  Rows<T> queries[kTensors], keys[kTensors];
  int64_t key_count;    // of the head
  int64_t first, rows;  // the next queries
  int64_t end;          // of the keys of the queries at hand
  int64_t work;         // steps until the next queries: the sum of Step()'s counts
  int64_t block;        // keys
  bool first_queries = false;
  int64_t row = 0;     // of the next queries, asked for so far
  int64_t credit = 0;  // rows * steps so far, modulo work

  // While keys at <= j < at + count are multiplied.
  ATTN_INLINE void Step(int64_t at, int64_t count) {
    for (credit += rows * count; credit >= work; credit -= work) {
      for (const Rows<T>& tensor : queries) tensor.Prefetch(first + row);
      if (end + row < key_count) {
        for (const Rows<T>& tensor : keys) tensor.Prefetch(end + row);
      }
      ++row;
    }
    if (!first_queries) return;
    const int64_t from = at + block, to = from + count < end ? from + count : end;
    for (int64_t j = from; j < to; ++j) {
      for (const Rows<T>& tensor : keys) tensor.Prefetch(j);
    }
  }
};
