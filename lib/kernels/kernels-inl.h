// SPDX-License-Identifier: Apache-2.0
// All kernels, in the order in which they need each other, and the table that a lowering exports.
// A unit in targets/ includes this once for each instruction set, inside an unnamed namespace
// of its own, after a lowering of Vec<T>; so kernel files have neither include guards nor
// namespaces.

static_assert(SimdVector<Vec<float>> && SimdVector<Vec<double>>);

#include "kernels/exp-inl.h"
#include "kernels/log-inl.h"
#include "kernels/matmul-inl.h"
#include "kernels/panel-inl.h"
#include "kernels/ahead-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/tanh-inl.h"
#include "kernels/block-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/attention-inl.h"
#if !defined(ATTN_PAGE_ONLY)  // the page's module: these run on the reference
#include "kernels/query-block-inl.h"
#include "kernels/lse-weights-inl.h"
#include "kernels/query-sums-inl.h"
#include "kernels/backward-inl.h"
#include "kernels/half-inl.h"
#include "kernels/decode-scores-inl.h"
#include "kernels/decode-weights-inl.h"
#include "kernels/decode-inl.h"
#include "kernels/product-inl.h"
#include "kernels/norm-inl.h"
#include "kernels/rotary-inl.h"
#define ATTN_IN_FULL(name) name<T>
#else
#define ATTN_IN_FULL(name) nullptr
#endif

template <class T>
constexpr KernelTable<T> kTable = {
    .lanes = Vec<T>::kLanes,
    .query_tile = kPanel<Vec<T>>,
    .softmax_rows = SoftmaxRows<T>,
    .matmul = ATTN_IN_FULL(Matmul),
    .matmul_scratch = ATTN_IN_FULL(MatmulScratch),
    .attention_flash = AttentionFlash<T>,
    .attention_flash_scratch = AttentionFlashScratch<T>,
    .attention_explicit = AttentionExplicit<T>,
    .attention_explicit_scratch = AttentionExplicitScratch<T>,
    .attention_decode = ATTN_IN_FULL(AttentionDecode),
    .attention_decode_scratch = ATTN_IN_FULL(AttentionDecodeScratch),
    .attention_backward = ATTN_IN_FULL(AttentionBackward),
    .attention_backward_scratch = ATTN_IN_FULL(AttentionBackwardScratch),
    .rms_norm = ATTN_IN_FULL(RmsNorm),
    .rms_norm_backward = ATTN_IN_FULL(RmsNormBackward),
    .rotary = ATTN_IN_FULL(Rotary),
};

#undef ATTN_IN_FULL
