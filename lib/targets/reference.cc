// SPDX-License-Identifier: Apache-2.0
#include "reference/kernels.h"

namespace attn::reference {
namespace {

template <class T>
int64_t RowOfScores(const AttentionTask<T>& task) {
  return task.keys + 1;
}

template <class T>
int64_t RowOfScoresBackward(const AttentionBackwardTask<T>& task) {
  return RowOfScores(task.forward);
}

template <class T>
int64_t RowOfScoresDecode(const AttentionDecodeTask<T>& task) {
  constexpr int64_t kMost = INT64_MAX;  // a stride of 0 allows any width
  const int64_t row = RowOfScores(task.head);
  return row > kMost - task.head.d ? kMost : row + task.head.d;
}

template <class T>
int64_t NoScratch(const MatmulTask<T>&) {
  return 0;
}

template <class T>
constexpr KernelTable<T> kTable = {
    .lanes = 1,
    .query_tile = 1,
    .softmax_rows = SoftmaxRows<T>,
#if !defined(ATTN_PAGE_ONLY)  // the page has no use for it
    .matmul = Matmul<T>,
    .matmul_scratch = NoScratch<T>,
#endif
    .attention_flash = AttentionForward<T>,
    .attention_flash_scratch = RowOfScores<T>,
    .attention_explicit = AttentionForward<T>,
    .attention_explicit_scratch = RowOfScores<T>,
#if !defined(ATTN_PAGE_ONLY)  // the page has no use for it
    .attention_decode = AttentionDecode<T>,
    .attention_decode_scratch = RowOfScoresDecode<T>,
#endif
    .attention_backward = AttentionBackward<T>,
    .attention_backward_scratch = RowOfScoresBackward<T>,
#if !defined(ATTN_PAGE_ONLY)  // the page has no use for them
    .rms_norm = RmsNorm<T>,
    .rms_norm_backward = RmsNormBackward<T>,
    .rotary = Rotary<T>,
#endif
};

}  // namespace

template <class T>
const KernelTable<T>& Table() {
  return kTable<T>;
}

template const KernelTable<float>& Table();
template const KernelTable<double>& Table();

}  // namespace attn::reference
