/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface: what the WebAssembly module exports, and what ctypes and other languages call.
 *
 * Every function that can fail returns an attn_status; attn_last_error() has the message of this
 * thread's last failure, which names the argument and the values that do not fit. A function that
 * fails leaves its outputs untouched. Outputs must not overlap each other or an input: that is not
 * checked. Nothing here throws, aborts on a bad size, or prints.
 *
 * Structs begin with their own size as the caller sees it: set it with ATTN_TENSOR or
 * ATTN_ATTENTION_OPTIONS or by hand; another size than the library's is an error. Their layout is
 * the same for 32-bit and 64-bit pointers. Sizes are 64-bit, strides count elements, text is UTF-8.
 *
 * "Full" marks what the page's module (attn.simd128.wasm, attn.relaxed.wasm) leaves out to stay
 * small: options there are ATTN_UNSUPPORTED, functions are not exported. attn.full.*.wasm and the
 * shared library have everything.
 */
#ifndef ATTN_H_
#define ATTN_H_

#include <stdint.h>

#if defined(_WIN32)
#define ATTN_EXPORT __declspec(dllexport)
#elif defined(__EMSCRIPTEN__)
#define ATTN_EXPORT __attribute__((used, visibility("default")))
#else
#define ATTN_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t attn_status;
enum {
  ATTN_OK = 0,
  ATTN_INVALID_ARGUMENT = 1, /* the caller's values do not fit together */
  ATTN_UNSUPPORTED = 2,      /* meaningful, but this backend does not do it */
  ATTN_NOT_FOUND = 3,        /* no such name */
  ATTN_OUT_OF_MEMORY = 4
};

enum { ATTN_F32 = 0, ATTN_F64 = 1, ATTN_U8 = 2, ATTN_I64 = 3 };

/* ---- Library ----------------------------------------------------------------------------------*/

/* Grows when a struct or a function changes its meaning; 1 is the first. */
#define ATTN_ABI_VERSION 2
ATTN_EXPORT uint32_t attn_abi_version(void);

ATTN_EXPORT const char* attn_version(void); /* "0.1.0" */

/* Never null; empty before the first failure. Stands until this thread's next failure. */
ATTN_EXPORT const char* attn_last_error(void);

/* What can run an operation, the reference first. An index outside 0..count-1: null or 0. */
ATTN_EXPORT int32_t attn_backend_count(void);
ATTN_EXPORT const char* attn_backend_name(int32_t index);
/* Lanes of a vector; 1 for the reference, 0 when the dtype is not supported. */
ATTN_EXPORT int64_t attn_backend_lanes(int32_t index, int32_t dtype);

/* Full. How many threads attention may use, the calling one counted: 1 at first, 0 is one for each
 * core. The same bits come out for any number; calls that are running keep the threads they have. A
 * child of fork() has none of them: there the calling thread does all, until this is called again.
 * Errors: below 0 or above 1024; ATTN_OUT_OF_MEMORY when the system gives no more threads (the
 * number is then as before); in WebAssembly a number that is neither 0, 1 nor that which the host
 * of a module with shared memory started (in the other modules: above 1). */
ATTN_EXPORT attn_status attn_set_threads(int32_t threads);

/* ---- Tensors ----------------------------------------------------------------------------------*/

/* A view of the caller's memory; element [i][j].. lies at data[i*strides[0] + j*strides[1] ..].
 * Axes from `rank` on are not read. An input may have any strides, also 0; an output none of 0. */
typedef struct attn_tensor {
  uint32_t size; /* sizeof(attn_tensor) */
  int32_t dtype; /* ATTN_F32 or ATTN_F64, the same for all of a call, where nothing else is said */
  int32_t rank;
  int32_t reserved; /* 0 */
  union {
    void* data; /* aligned to an element; may be null when an extent is 0 */
    uint64_t data_bits;
  };
  int64_t shape[4];
  int64_t strides[4];
} attn_tensor;

/* A dense row-major tensor, ATTN_TENSOR(ATTN_F32, pointer, 2, rows, columns, 1, 1):
 * the extents from `rank` on are 1. */
#define ATTN_TENSOR(dtype, pointer, rank, n0, n1, n2, n3) \
  {sizeof(attn_tensor),                                   \
   (dtype),                                               \
   (rank),                                                \
   0,                                                     \
   {(pointer)},                                           \
   {(n0), (n1), (n2), (n3)},                              \
   {(int64_t)(n1) * (n2) * (n3), (int64_t)(n2) * (n3), (n3), 1}}

/* ---- Softmax of rows --------------------------------------------------------------------------*/

/* In every call below `backend` is a name of attn_backend_name(), or null: the fastest backend
 * that does the operation for f32, the reference for f64. */

/* p[r] = softmax(x[r]); lse[r] = ln sum exp x[r]. x, p [rows][columns]; lse [rows] or null. p may
 * be x. A row of only -inf, or without columns: weights 0, lse -inf. NaN stays in its row. */
ATTN_EXPORT attn_status attn_softmax_rows(const char* backend, const attn_tensor* x,
                                          const attn_tensor* p, const attn_tensor* lse);

/* jacobian[i][j] = p_i (delta_ij - p_j). p [n], jacobian [n][n]. */
ATTN_EXPORT attn_status attn_softmax_jacobian(const attn_tensor* p, const attn_tensor* jacobian);

/* out = J g = p o (g - p . g). All [n]; out may be g. */
ATTN_EXPORT attn_status attn_softmax_jacobian_product(const attn_tensor* p, const attn_tensor* g,
                                                      const attn_tensor* out);

/* out = (softmax(z + step e_j) - softmax(z)) / step. z, out [n]. Errors: j outside 0..n-1, step 0
 * or NaN. */
ATTN_EXPORT attn_status attn_softmax_finite_difference(const attn_tensor* z, int64_t j, double step,
                                                       const attn_tensor* out);

/* ---- Attention --------------------------------------------------------------------------------*/

enum { ATTN_BOTTOM_RIGHT = 0, ATTN_TOP_LEFT = 1 };
enum {
  ATTN_AUTO = 0,     /* ATTN_DECODE for pages, and for up to 8 queries where the backend has it */
  ATTN_FLASH = 1,    /* keys in blocks, a running maximum and sum */
  ATTN_EXPLICIT = 2, /* three passes over a row of scores */
  ATTN_DECODE = 3    /* full: keys in parts that merge, each read once for a group of heads */
};

/* Zeros are the defaults. */
typedef struct attn_attention_options {
  uint32_t size; /* sizeof(attn_attention_options) */
  int32_t form;
  int32_t causal;           /* 0, or 1: query i sees key j when j <= i + offset */
  int32_t align;            /* offset: Sk - Sq (ATTN_BOTTOM_RIGHT) or 0 (ATTN_TOP_LEFT); Sk is what
                             * kv_lens or cu_seqlens leave a sequence */
  int32_t has_query_offset; /* 1: the offset is query_offset */
  int32_t has_scale;        /* 0: the scale is 1 / sqrt(D) */
  int32_t has_window_left;  /* full; 1: a key is hidden where j < i + offset - window_left */
  int32_t has_window_right; /* full; 1: where j > i + offset + window_right */
  int64_t query_offset;
  int64_t window_left; /* 0 or more, as window_right */
  int64_t window_right;
  int64_t kv_splits; /* full; parts of the keys in ATTN_DECODE; 0: one for each 1024, at most 64 */
  double scale;      /* any finite number, also 0 and negative ones */
  double softcap;    /* full; c: scaled scores s become c tanh(s / c); 0: none, never below 0 */
} attn_attention_options;

#define ATTN_ATTENTION_OPTIONS \
  {sizeof(attn_attention_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0}

/* B batch, Hq query heads, Hk key/value heads (Hq a multiple; query head h reads h / (Hq / Hk)),
 * Sq queries, Sk keys, D and Dv widths:
 *   q, dq [B][Hq][Sq][D]   k, dk [B][Hk][Sk][D]   v, dv [B][Hk][Sk][Dv]
 *   o, d_o [B][Hq][Sq][Dv]   lse, d_lse [B][Hq][Sq]   scores, weights [B][Hq][Sq][Sk]
 * Sq and Sk may be 0. A row that sees no key has output 0 and lse -inf (the sink, where there is
 * one). `options` and `rules` may be null. */

/* A member that is null, or 64 bits wide whatever a pointer is. */
#define ATTN_OPTIONAL_TENSOR(name) \
  union {                          \
    const attn_tensor* name;       \
    uint64_t name##_bits;          \
  }

/* Full. Tensors that say which keys there are and what is added to their scores. Order: scale,
 * soft-cap, mask_add, then everything that hides, then softmax, where a sink joins the sum. */
typedef struct attn_attention_rules {
  uint32_t size;    /* sizeof(attn_attention_rules) */
  int32_t reserved; /* 0 */
  /* ATTN_U8 [B][Hq][Sq][Sk], where an extent of 1 stands for all: 0 hides. */
  ATTN_OPTIONAL_TENSOR(mask_keep);
  /* Likewise, of q's dtype: -inf hides, other values do not. */
  ATTN_OPTIONAL_TENSOR(mask_add);
  /* [Hq], of q's dtype: a logit without a value, neither NaN nor +inf. */
  ATTN_OPTIONAL_TENSOR(sinks);
  /* ATTN_I64 [B], each 0..Sk: how many keys a sequence has. What lies behind is never read. */
  ATTN_OPTIONAL_TENSOR(kv_lens);
  /* ATTN_I64 [B][pages of a sequence]; forward only, in the forms auto and decode. Then
   * k is [pages][Hk][page size][D], v [pages][Hk][page size][Dv], and key j of sequence b lies on
   * page page_table[b][j / page size], slot j % page size. Entries behind kv_lens are not read. */
  ATTN_OPTIONAL_TENSOR(page_table);
  /* ATTN_I64 [sequences + 1], from 0 up to Sq and to Sk; both or none. Sequence s is the queries
   * cu_seqlens_q[s] <= i < cu_seqlens_q[s + 1] and such keys. B is 1; no masks, kv_lens, pages. */
  ATTN_OPTIONAL_TENSOR(cu_seqlens_q);
  ATTN_OPTIONAL_TENSOR(cu_seqlens_k);
} attn_attention_rules;

#define ATTN_ATTENTION_RULES {sizeof(attn_attention_rules), 0, {0}, {0}, {0}, {0}, {0}, {0}, {0}}

/* lse may be null. */
ATTN_EXPORT attn_status attn_attention_forward(const char* backend,
                                               const attn_attention_options* options,
                                               const attn_attention_rules* rules,
                                               const attn_tensor* q, const attn_tensor* k,
                                               const attn_tensor* v, const attn_tensor* o,
                                               const attn_tensor* lse);

/* o and lse are those of forward; d_lse may be null. dk and dv sum over the heads of a group.
 * d_sinks [Hq]: given where the sinks are, else null. */
ATTN_EXPORT attn_status attn_attention_backward(
    const char* backend, const attn_attention_options* options, const attn_attention_rules* rules,
    const attn_tensor* q, const attn_tensor* k, const attn_tensor* v, const attn_tensor* o,
    const attn_tensor* lse, const attn_tensor* d_o, const attn_tensor* d_lse, const attn_tensor* dq,
    const attn_tensor* dk, const attn_tensor* dv, const attn_tensor* d_sinks);

/* What the forward pass never stores. Hidden places hold score -inf and weight 0. Either output
 * may be null. */
ATTN_EXPORT attn_status attn_attention_weights(const attn_attention_options* options,
                                               const attn_tensor* q, const attn_tensor* k,
                                               const attn_tensor* scores,
                                               const attn_tensor* weights);

/* ---- Around attention: full -------------------------------------------------------------------*/

/* Attention over the keys of a and b together, from attention over each: o, o_a, o_b [rows][Dv],
 * lse, lse_a, lse_b [rows]. Where an lse is -inf its o is not read. o and lse may be those of a or
 * of b. */
ATTN_EXPORT attn_status attn_merge_states(const attn_tensor* o_a, const attn_tensor* lse_a,
                                          const attn_tensor* o_b, const attn_tensor* lse_b,
                                          const attn_tensor* o, const attn_tensor* lse);

/* y = w x / sqrt(mean(x^2) + eps) along the last axis. x, y [..][..][..][width], w [width]; y may
 * be x. Errors: eps negative or not finite. */
ATTN_EXPORT attn_status attn_rms_norm(const attn_tensor* x, const attn_tensor* w, double eps,
                                      const attn_tensor* y);

/* d_x like x, may be d_y; d_w [width] sums over the rows. */
ATTN_EXPORT attn_status attn_rms_norm_backward(const attn_tensor* x, const attn_tensor* w,
                                               double eps, const attn_tensor* d_y,
                                               const attn_tensor* d_x, const attn_tensor* d_w);

/* Pair p of the first r channels: (2p, 2p + 1), or (p, p + r/2). */
enum { ATTN_INTERLEAVED = 0, ATTN_HALF = 1 };

/* Each pair (x1, x2) of a token turns to (x1 cos - x2 sin, x1 sin + x2 cos). x, y [B][H][S][D]; y
 * may be x. cos, sin [rows][r/2]: token s of sequence b takes row positions[b][s], or row s where
 * positions (ATTN_I64 [B][S]) are null. Channels from r on stay. Errors: r above D, a position
 * that is no row. */
ATTN_EXPORT attn_status attn_rotary_embedding(int32_t pairing, const attn_tensor* x,
                                              const attn_tensor* cos, const attn_tensor* sin,
                                              const attn_tensor* positions, const attn_tensor* y);

/* The gradient of x: the same turn backwards. d_x may be d_y. */
ATTN_EXPORT attn_status attn_rotary_embedding_backward(int32_t pairing, const attn_tensor* d_y,
                                                       const attn_tensor* cos,
                                                       const attn_tensor* sin,
                                                       const attn_tensor* positions,
                                                       const attn_tensor* d_x);

/* Row p, column k of cos and sin [rows][r/2]: of p base^(-2k/r). Errors: base not finite or not
 * above 0. */
ATTN_EXPORT attn_status attn_rotary_tables(double base, const attn_tensor* cos,
                                           const attn_tensor* sin);

/* ---- Random numbers ---------------------------------------------------------------------------*/

/* The stream of NumPy's default_rng(seed), bit for bit. Not thread-safe. */
typedef struct attn_generator attn_generator;
ATTN_EXPORT attn_status attn_generator_create(uint64_t seed, attn_generator** generator);
ATTN_EXPORT void attn_generator_free(attn_generator* generator); /* null is allowed */
/* The next n values of standard_normal() or random(). */
ATTN_EXPORT attn_status attn_generator_standard_normal(attn_generator* generator, int64_t n,
                                                       double* out);
ATTN_EXPORT attn_status attn_generator_random(attn_generator* generator, int64_t n, double* out);

/* ---- Results with many parts ------------------------------------------------------------------*/

/* Named fields, each a row of numbers (f64 whatever was computed in) or a text, owned by the
 * result; free it with attn_result_free. Functions that give one list its fields. */
typedef struct attn_result attn_result;
ATTN_EXPORT void attn_result_free(attn_result* result); /* null is allowed */
/* An index outside 0..count-1: null or 0. */
ATTN_EXPORT int32_t attn_result_count(const attn_result* result);
ATTN_EXPORT const char* attn_result_name(const attn_result* result, int32_t index);
ATTN_EXPORT const char* attn_result_text(const attn_result* result, int32_t index); /* or null */
ATTN_EXPORT int64_t attn_result_length(const attn_result* result, int32_t index);
ATTN_EXPORT const double* attn_result_numbers(const attn_result* result, int32_t index);

/* Full. Texts digest, which stands for the bits of results of every rule of attention on `backend`
 * (null: portable), and native, which the portable backend gave natively and gives wherever it
 * runs. Sixteen hexadecimal digits each (lib/attn/digest.h). */
ATTN_EXPORT attn_status attn_bitwise_digest(const char* backend, attn_result** result);

/* ---- Step 1: a soft lookup --------------------------------------------------------------------*/

/* What becomes of a hidden score before softmax. */
enum {
  ATTN_HIDDEN_MINUS_INFINITY = 0, /* the definition */
  ATTN_HIDDEN_ZERO = 1,           /* a common mistake: e^0 = 1 */
  ATTN_HIDDEN_LOWEST_FINITE = 2,  /* the lowest number of the dtype is added */
  ATTN_HIDDEN_MINUS_BILLION = 3   /* replaced by -1e9 */
};

typedef struct attn_lookup_options {
  uint32_t size; /* sizeof(attn_lookup_options) */
  int32_t causal;
  int32_t hidden_score;
  int32_t has_scale; /* 0: the scale is 1 / sqrt(width) */
  double scale;
} attn_lookup_options;

#define ATTN_LOOKUP_OPTIONS {sizeof(attn_lookup_options), 0, 0, 0, 0.0}

/* Everything between Q, K, V and the answer. q [queries][width], k [keys][width],
 * v [keys][value_width], dense; hidden: null, or queries x keys bytes, not 0 = hidden.
 * Fields: dots scores exps naive weights [queries][keys], sums lse leak hard_key [queries],
 * output hard_output [queries][value_width] (lib/attn/experiment.h says what each is). */
ATTN_EXPORT attn_status attn_soft_lookup(const char* backend, const attn_lookup_options* options,
                                         const attn_tensor* q, const attn_tensor* k,
                                         const attn_tensor* v, const uint8_t* hidden,
                                         attn_result** result);

/* ---- Step 2: why divide by sqrt(d) ------------------------------------------------------------*/

enum { ATTN_DIVISOR_ONE = 0, ATTN_DIVISOR_SQRT_D = 1, ATTN_DIVISOR_D = 2 };

/* score = (q . k) / divisor / temperature, then softcap * tanh(score / softcap). */
typedef struct attn_score_rule {
  uint32_t size; /* sizeof(attn_score_rule) */
  int32_t divisor;
  int32_t qk_norm; /* 1: q and k are first divided by their root mean square */
  int32_t reserved;
  double temperature; /* above 0 */
  double softcap;     /* 0: none */
} attn_score_rule;

#define ATTN_SCORE_RULE {sizeof(attn_score_rule), ATTN_DIVISOR_SQRT_D, 0, 0, 1.0, 0.0}

/* `trials` random queries against `keys` random keys, in pieces: begin(d), then advance until
 * nothing remains, then measure under any number of rules. The order of the begins matters, as
 * all draw from one stream. Errors of begin: trials or keys outside 1..65536, their product above
 * 2^24, d outside its range. */
typedef struct attn_scaling attn_scaling;
ATTN_EXPORT attn_status attn_scaling_create(uint64_t seed, int64_t trials, int64_t keys,
                                            attn_scaling** scaling);
ATTN_EXPORT void attn_scaling_free(attn_scaling* scaling); /* null is allowed */
ATTN_EXPORT attn_status attn_scaling_begin(attn_scaling* scaling, int64_t d);
/* Scores of up to `queries` more queries; *remaining (may be null) is how many are left. */
ATTN_EXPORT attn_status attn_scaling_advance(attn_scaling* scaling, int64_t queries,
                                             int64_t* remaining);
/* Fields of one number: d spread top entropy effective saturated low high; histogram [64]. */
ATTN_EXPORT attn_status attn_scaling_measure(const attn_scaling* scaling,
                                             const attn_score_rule* rule, attn_result** result);

/* ---- Step 3: the Jacobian of softmax ----------------------------------------------------------*/

/* Of softmax(multiplier * z), z [n] of f64. Fields: p row_sums [n], jacobian nudged [n][n],
 * largest_difference, step. */
ATTN_EXPORT attn_status attn_softmax_sensitivity(const char* backend, const attn_tensor* z,
                                                 double multiplier, double step,
                                                 attn_result** result);

/* J g both ways, p and g [n] of f64. Fields: dot, fast slow [n], fast_operations,
 * slow_operations. */
ATTN_EXPORT attn_status attn_multiply_jacobian(const attn_tensor* p, const attn_tensor* g,
                                               attn_result** result);

/* Largest absolute error of the backward pass against complex-step derivatives. Fields: dq dk
 * dv. */
ATTN_EXPORT attn_status attn_check_backward(const char* backend, uint64_t seed, int64_t n,
                                            int64_t d, attn_result** result);

/* ---- Steps 4 and 6: what attention costs ------------------------------------------------------*/

/* FLOPs count a multiplication and an addition as two. Counts come as doubles: exact to 2^53. */

typedef struct attn_model_shape {
  uint32_t size; /* sizeof(attn_model_shape) */
  int32_t reserved;
  int64_t layers;
  int64_t attention_layers; /* those with a cache that grows; the rest are recurrences */
  int64_t d_model;
  int64_t heads;
  int64_t kv_heads;
  int64_t d_head;
  int64_t d_latent;       /* latent attention; 0 elsewhere, as the two below */
  int64_t d_rope;         /* decoupled rotary part */
  int64_t d_query_latent; /* queries are compressed too */
} attn_model_shape;

/* Named models: Llama 3.1 8B, DeepSeek-V2, ... Fields: texts id name source; the numbers of
 * attn_model_shape; query_scalar softcap. */
ATTN_EXPORT int32_t attn_model_count(void);
ATTN_EXPORT attn_status attn_model_get(int32_t index, attn_result** result);

/* Fields of one number: projection_weights projection_flops_per_token (a layer) crossover_token
 * crossover_prompt cache_numbers (a token and layer) cache_numbers_unshared cache_saving
 * multi_query_saving equivalent_groups circuit_entries circuit_factor_entries circuit_rank_bound
 * circuit_heads_cover. lib/attn/cost.h says what each is. Errors: a size outside 1..2^18 (latent
 * sizes: 0..2^18). */
ATTN_EXPORT attn_status attn_model_costs(const attn_model_shape* model, attn_result** result);

/* Columns for `count` prompt lengths: n head_scores head_flops head_flops_linear model_attention
 * model_projections cache_bytes. `lengths` null: 1024, 2048, ... 131072. */
ATTN_EXPORT attn_status attn_cost_table(const attn_model_shape* model, const int64_t* lengths,
                                        int64_t count, attn_result** result);

/* Fields of one number for a prompt of n tokens and one head of width d: pairs softmax_flops
 * linear_flops linear_state_numbers; for the model: attention_flops_at (one new token that sees
 * n) cache_bytes. */
ATTN_EXPORT attn_status attn_cost_at(const attn_model_shape* model, int64_t n, int64_t d,
                                     int32_t causal, int64_t bytes_per_number,
                                     attn_result** result);

/* ---- Every figure of the article, published beside computed -----------------------------------*/

typedef struct attn_report attn_report;
/* Runs steps 1 and 3 on `backend`'s f64 (null: the reference). Free it with attn_report_free. */
ATTN_EXPORT attn_status attn_report_create(const char* backend, attn_report** report);
ATTN_EXPORT void attn_report_free(attn_report* report); /* null is allowed */
ATTN_EXPORT int32_t attn_report_count(const attn_report* report);
/* Fields: texts id what compare published (JSON) verdict note; step; digits, or none. Of the
 * scalars of `published` in their order: leaf_published leaf_text (texts, one a line), and
 * leaf_numbers leaf_agrees leaf_digits. */
ATTN_EXPORT attn_status attn_report_figure(const attn_report* report, int32_t index,
                                           attn_result** result);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTN_H_ */
