/* SPDX-License-Identifier: Apache-2.0 */
/* What attn.h calls full: rules of attention, what stands around it, threads. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "attn_c_test.h"

/* Two keys of score 0 and values 1 and 3, in f64: results can be told by hand. */
static void TestEachRule(void) {
  double zero[2] = {0, 0}, values[2] = {1, 3}, o[1], lse[1], sink[1], add[2] = {0, 0};
  uint8_t keep[2] = {0, 1};
  int64_t length[1] = {1}, bounds_q[3] = {0, 1, 1}, bounds_k[3] = {0, 1, 2};
  attn_tensor tq = ATTN_TENSOR(ATTN_F64, zero, 4, 1, 1, 1, 1);
  attn_tensor tk = ATTN_TENSOR(ATTN_F64, zero, 4, 1, 1, 2, 1);
  attn_tensor tv = ATTN_TENSOR(ATTN_F64, values, 4, 1, 1, 2, 1);
  attn_tensor to = ATTN_TENSOR(ATTN_F64, o, 4, 1, 1, 1, 1);
  attn_tensor tl = ATTN_TENSOR(ATTN_F64, lse, 3, 1, 1, 1, 1);
  attn_tensor tkeep = ATTN_TENSOR(ATTN_U8, keep, 4, 1, 1, 1, 2);
  attn_tensor tadd = ATTN_TENSOR(ATTN_F64, add, 4, 1, 1, 1, 2);
  attn_tensor tsink = ATTN_TENSOR(ATTN_F64, sink, 1, 1, 1, 1, 1);
  attn_tensor tlength = ATTN_TENSOR(ATTN_I64, length, 1, 1, 1, 1, 1);
  attn_tensor tbq = ATTN_TENSOR(ATTN_I64, bounds_q, 1, 3, 1, 1, 1);
  attn_tensor tbk = ATTN_TENSOR(ATTN_I64, bounds_k, 1, 3, 1, 1, 1);
  attn_attention_options options = ATTN_ATTENTION_OPTIONS;
  attn_attention_rules rules = ATTN_ATTENTION_RULES;
  const attn_attention_rules none = ATTN_ATTENTION_RULES;
  int32_t i;
  sink[0] = log(2.0), add[0] = log(3.0);
#define LOOK(backend) attn_attention_forward((backend), &options, &rules, &tq, &tk, &tv, &to, &tl)
  for (i = 0; i < attn_backend_count(); ++i) {
    const char* backend = attn_backend_name(i);
    EXPECT(LOOK(backend) == ATTN_OK && Near(o[0], 2, 1e-15) && Near(lse[0], log(2.0), 1e-15));
    rules.mask_keep = &tkeep;
    EXPECT(LOOK(backend) == ATTN_OK && o[0] == 3);
    rules = none, rules.mask_add = &tadd;
    EXPECT(LOOK(backend) == ATTN_OK && Near(o[0], 1.5, 1e-15) && Near(lse[0], log(4.0), 1e-15));
    rules = none, rules.sinks = &tsink;
    EXPECT(LOOK(backend) == ATTN_OK && Near(o[0], 1, 1e-15) && Near(lse[0], log(4.0), 1e-15));
    rules = none, rules.kv_lens = &tlength;
    EXPECT(LOOK(backend) == ATTN_OK && o[0] == 1);
    rules = none, rules.cu_seqlens_q = &tbq, rules.cu_seqlens_k = &tbk;
    EXPECT(LOOK(backend) == ATTN_OK && o[0] == 1); /* the second sequence has no query */
    rules = none, options.has_window_left = 1;     /* the query stands at the last key */
    EXPECT(LOOK(backend) == ATTN_OK && o[0] == 3);
    options.has_window_left = 0;
    options.form = ATTN_DECODE, options.kv_splits = 2, options.softcap = 5;
    EXPECT(LOOK(backend) == ATTN_OK && Near(o[0], 2, 1e-15));
    options.form = ATTN_AUTO, options.kv_splits = 0, options.softcap = 0;
  }
  o[0] = 42;
  rules.cu_seqlens_q = &tbq;
  EXPECT_ERROR(LOOK(NULL), ATTN_INVALID_ARGUMENT, "needed together");
  rules = none, rules.mask_keep = &tadd;
  EXPECT_ERROR(LOOK(NULL), ATTN_INVALID_ARGUMENT, "mask_keep: dtype 1, needed is 2 (u8)");
  rules = none, rules.kv_lens = &tsink;
  EXPECT_ERROR(LOOK(NULL), ATTN_INVALID_ARGUMENT, "kv_lens: dtype 1, needed is 3 (i64)");
  rules = none, rules.kv_lens = &tlength, length[0] = 3;
  EXPECT_ERROR(LOOK(NULL), ATTN_INVALID_ARGUMENT, "kv_lens[0] is 3, needed is 0 to 2");
  rules = none, rules.size = 8;
  EXPECT_ERROR(LOOK(NULL), ATTN_INVALID_ARGUMENT, "rules: the caller's struct has 8 bytes");
  EXPECT(o[0] == 42);
}

static void TestPages(void) {
  /* Key 0 and 1 on page 1, key 2 on page 0; behind it NaN. */
  double kv[4] = {5, NAN, 1, 3}, zero[4] = {0, NAN, 0, 0}, query[1] = {1}, o[1];
  int64_t table[2] = {1, 0}, length[1] = {3};
  attn_tensor tq = ATTN_TENSOR(ATTN_F64, query, 4, 1, 1, 1, 1);
  attn_tensor tk = ATTN_TENSOR(ATTN_F64, zero, 4, 2, 1, 2, 1);
  attn_tensor tv = ATTN_TENSOR(ATTN_F64, kv, 4, 2, 1, 2, 1);
  attn_tensor to = ATTN_TENSOR(ATTN_F64, o, 4, 1, 1, 1, 1);
  attn_tensor ttable = ATTN_TENSOR(ATTN_I64, table, 2, 1, 2, 1, 1);
  attn_tensor tlength = ATTN_TENSOR(ATTN_I64, length, 1, 1, 1, 1, 1);
  attn_tensor no_pages = ATTN_TENSOR(ATTN_I64, NULL, 2, 1, 0, 1, 1);
  attn_attention_options options = ATTN_ATTENTION_OPTIONS;
  attn_attention_rules rules = ATTN_ATTENTION_RULES;
  rules.page_table = &ttable, rules.kv_lens = &tlength;
#define DECODE() attn_attention_forward(NULL, &options, &rules, &tq, &tk, &tv, &to, NULL)
  EXPECT(DECODE() == ATTN_OK && Near(o[0], 3, 1e-15));
  table[1] = 2;
  EXPECT_ERROR(DECODE(), ATTN_INVALID_ARGUMENT, "page_table[0][1] is 2, K has 2 pages");
  length[0] = 2; /* the entry is no longer read */
  EXPECT(DECODE() == ATTN_OK && Near(o[0], 2, 1e-15));
  options.form = ATTN_FLASH;
  EXPECT_ERROR(DECODE(), ATTN_INVALID_ARGUMENT, "page_table");
  /* A table without entries is a cache without keys, not one without pages. */
  options.form = ATTN_AUTO, rules.page_table = &no_pages, rules.kv_lens = NULL;
  EXPECT(DECODE() == ATTN_OK && o[0] == 0);
}

/* o = v p with p = 1 / 2, and a sink of the same weight as the key: all gradients by hand. */
static void TestBackwardWithSink(void) {
  double one[1] = {1}, zero[1] = {0}, value[1] = {3}, o[1], lse[1], dq[1], dk[1], dv[1], d_sink[1];
  attn_tensor tq = ATTN_TENSOR(ATTN_F64, one, 4, 1, 1, 1, 1);
  attn_tensor tk = ATTN_TENSOR(ATTN_F64, zero, 4, 1, 1, 1, 1);
  attn_tensor tv = ATTN_TENSOR(ATTN_F64, value, 4, 1, 1, 1, 1);
  attn_tensor to = ATTN_TENSOR(ATTN_F64, o, 4, 1, 1, 1, 1);
  attn_tensor tl = ATTN_TENSOR(ATTN_F64, lse, 3, 1, 1, 1, 1);
  attn_tensor tdq = ATTN_TENSOR(ATTN_F64, dq, 4, 1, 1, 1, 1);
  attn_tensor tdk = ATTN_TENSOR(ATTN_F64, dk, 4, 1, 1, 1, 1);
  attn_tensor tdv = ATTN_TENSOR(ATTN_F64, dv, 4, 1, 1, 1, 1);
  attn_tensor tsink = ATTN_TENSOR(ATTN_F64, zero, 1, 1, 1, 1, 1);
  attn_tensor tds = ATTN_TENSOR(ATTN_F64, d_sink, 1, 1, 1, 1, 1);
  attn_attention_rules rules = ATTN_ATTENTION_RULES;
  int32_t i;
  rules.sinks = &tsink;
#define GRADIENTS(backend, D_SINKS)                                                                \
  attn_attention_backward((backend), NULL, &rules, &tq, &tk, &tv, &to, &tl, &tq, NULL, &tdq, &tdk, \
                          &tdv, (D_SINKS))
  for (i = 0; i < attn_backend_count(); ++i) {
    const char* backend = attn_backend_name(i);
    EXPECT(attn_attention_forward(backend, NULL, &rules, &tq, &tk, &tv, &to, &tl) == ATTN_OK);
    EXPECT(Near(o[0], 1.5, 1e-15) && Near(lse[0], log(2.0), 1e-15));
    EXPECT(GRADIENTS(backend, &tds) == ATTN_OK);
    /* dS = p (3 - 1.5) = 0.75; the sink's is p (0 - 1.5). */
    EXPECT(Near(dv[0], 0.5, 1e-15) && Near(dk[0], 0.75, 1e-15) && dq[0] == 0);
    EXPECT(Near(d_sink[0], -0.75, 1e-15));
  }
  EXPECT_ERROR(GRADIENTS(NULL, NULL), ATTN_INVALID_ARGUMENT, "dSinks");
  rules.sinks = NULL;
  EXPECT_ERROR(GRADIENTS(NULL, &tds), ATTN_INVALID_ARGUMENT, "dSinks is present, sinks are not");
}

static void TestMerge(void) {
  float o_a[2] = {1, 1}, o_b[2] = {3, 3}, o[2], lse_a[1] = {0}, lse_b[1] = {0}, lse[1];
  attn_tensor toa = ATTN_TENSOR(ATTN_F32, o_a, 2, 1, 2, 1, 1);
  attn_tensor tob = ATTN_TENSOR(ATTN_F32, o_b, 2, 1, 2, 1, 1);
  attn_tensor to = ATTN_TENSOR(ATTN_F32, o, 2, 1, 2, 1, 1);
  attn_tensor tla = ATTN_TENSOR(ATTN_F32, lse_a, 1, 1, 1, 1, 1);
  attn_tensor tlb = ATTN_TENSOR(ATTN_F32, lse_b, 1, 1, 1, 1, 1);
  attn_tensor tl = ATTN_TENSOR(ATTN_F32, lse, 1, 1, 1, 1, 1);
  EXPECT(attn_merge_states(&toa, &tla, &tob, &tlb, &to, &tl) == ATTN_OK);
  EXPECT(Near(o[0], 2, 1e-6) && Near(o[1], 2, 1e-6) && Near(lse[0], log(2.0), 1e-6));
  lse_b[0] = -INFINITY, o_b[0] = NAN; /* neutral, and not read */
  EXPECT(attn_merge_states(&toa, &tla, &tob, &tlb, &to, &tl) == ATTN_OK);
  EXPECT(o[0] == 1 && lse[0] == 0);
  tob.shape[1] = 1;
  EXPECT(attn_merge_states(&toa, &tla, &tob, &tlb, &to, &tl) == ATTN_INVALID_ARGUMENT);
  EXPECT_ERROR(attn_merge_states(&toa, NULL, &tob, &tlb, &to, &tl), ATTN_INVALID_ARGUMENT,
               "lse_a is null");
}

static void TestNorm(void) {
  double x[2] = {3, 4}, w[2] = {1, 2}, y[2], up[2] = {1, 0}, dx[2], dw[2];
  const double rms = sqrt(12.5);
  attn_tensor tx = ATTN_TENSOR(ATTN_F64, x, 4, 1, 1, 1, 2);
  attn_tensor tw = ATTN_TENSOR(ATTN_F64, w, 1, 2, 1, 1, 1);
  attn_tensor ty = ATTN_TENSOR(ATTN_F64, y, 4, 1, 1, 1, 2);
  attn_tensor tup = ATTN_TENSOR(ATTN_F64, up, 4, 1, 1, 1, 2);
  attn_tensor tdx = ATTN_TENSOR(ATTN_F64, dx, 4, 1, 1, 1, 2);
  attn_tensor tdw = ATTN_TENSOR(ATTN_F64, dw, 1, 2, 1, 1, 1);
  EXPECT(attn_rms_norm(&tx, &tw, 0, &ty) == ATTN_OK);
  EXPECT(Near(y[0], 3 / rms, 1e-15) && Near(y[1], 8 / rms, 1e-15));
  EXPECT(attn_rms_norm_backward(&tx, &tw, 0, &tup, &tdx, &tdw) == ATTN_OK);
  /* d (x0 / rms) / dx = (1 - x0^2 / (2 rms^2), -x0 x1 / (2 rms^2)) / rms */
  EXPECT(Near(dx[0], (1 - 9 / 25.0) / rms, 1e-15) && Near(dx[1], -12 / 25.0 / rms, 1e-15));
  EXPECT(Near(dw[0], 3 / rms, 1e-15) && dw[1] == 0);
  EXPECT_ERROR(attn_rms_norm(&tx, &tw, -1, &ty), ATTN_INVALID_ARGUMENT, "eps is negative");
  EXPECT_ERROR(attn_rms_norm(&tx, NULL, 0, &ty), ATTN_INVALID_ARGUMENT, "w is null");
}

static void TestRotary(void) {
  double x[4] = {1, 2, 3, 4}, y[4], back[4], cosines[6], sines[6];
  int64_t position[1] = {2};
  attn_tensor tx = ATTN_TENSOR(ATTN_F64, x, 4, 1, 1, 1, 4);
  attn_tensor ty = ATTN_TENSOR(ATTN_F64, y, 4, 1, 1, 1, 4);
  attn_tensor tb = ATTN_TENSOR(ATTN_F64, back, 4, 1, 1, 1, 4);
  attn_tensor tc = ATTN_TENSOR(ATTN_F64, cosines, 2, 3, 2, 1, 1);
  attn_tensor ts = ATTN_TENSOR(ATTN_F64, sines, 2, 3, 2, 1, 1);
  attn_tensor tp = ATTN_TENSOR(ATTN_I64, position, 2, 1, 1, 1, 1);
  int32_t i;
  EXPECT(attn_rotary_tables(100, &tc, &ts) == ATTN_OK);
  EXPECT(Near(cosines[4], cos(2.0), 1e-15) && Near(sines[5], sin(0.2), 1e-15));
  EXPECT(attn_rotary_embedding(ATTN_HALF, &tx, &tc, &ts, &tp, &ty) == ATTN_OK);
  EXPECT(Near(y[0], cos(2.0) - 3 * sin(2.0), 1e-15) && Near(y[2], sin(2.0) + 3 * cos(2.0), 1e-15));
  EXPECT(attn_rotary_embedding_backward(ATTN_HALF, &ty, &tc, &ts, &tp, &tb) == ATTN_OK);
  for (i = 0; i < 4; ++i) EXPECT(Near(back[i], x[i], 1e-15));
  EXPECT(attn_rotary_embedding(ATTN_INTERLEAVED, &tx, &tc, &ts, NULL, &ty) == ATTN_OK);
  for (i = 0; i < 4; ++i) EXPECT(y[i] == x[i]); /* row 0 turns nothing */
  position[0] = 3;
  EXPECT_ERROR(attn_rotary_embedding(ATTN_HALF, &tx, &tc, &ts, &tp, &ty), ATTN_INVALID_ARGUMENT,
               "positions[0][0] is 3, cos has 3 rows");
  EXPECT_ERROR(attn_rotary_embedding(2, &tx, &tc, &ts, NULL, &ty), ATTN_INVALID_ARGUMENT,
               "pairing 2");
  EXPECT_ERROR(attn_rotary_tables(0, &tc, &ts), ATTN_INVALID_ARGUMENT, "base");
}

/* The same bits for any number of threads. */
static void TestThreads(void) {
  static float x[2 * 4 * 40 * 8], o[4][2 * 4 * 40 * 8];
  attn_tensor tx = ATTN_TENSOR(ATTN_F32, x, 4, 2, 4, 40, 8);
  const int32_t threads[4] = {1, 2, 5, 0};
  int32_t i;
  for (i = 0; i < (int32_t)(sizeof(x) / sizeof(x[0])); ++i) x[i] = (float)(i * 37 % 101) / 50 - 1;
  for (i = 0; i < 4; ++i) {
    attn_tensor to = ATTN_TENSOR(ATTN_F32, o[i], 4, 2, 4, 40, 8);
    EXPECT(attn_set_threads(threads[i]) == ATTN_OK);
    EXPECT(attn_attention_forward(NULL, NULL, NULL, &tx, &tx, &tx, &to, NULL) == ATTN_OK);
    EXPECT(memcmp(o[i], o[0], sizeof(o[0])) == 0);
  }
  EXPECT_ERROR(attn_set_threads(-1), ATTN_INVALID_ARGUMENT, "threads is -1");
  EXPECT_ERROR(attn_set_threads(100000), ATTN_INVALID_ARGUMENT, "100000");
  EXPECT(attn_set_threads(1) == ATTN_OK);
}

/* Here as everywhere. */
static void TestDigest(void) {
  attn_result* result = NULL;
  const char *digest, *native;
  EXPECT(attn_bitwise_digest(NULL, &result) == ATTN_OK);
  EXPECT(attn_result_count(result) == 2);
  digest = attn_result_text(result, 0), native = attn_result_text(result, 1);
  EXPECT(strcmp(attn_result_name(result, 0), "digest") == 0 && strlen(digest) == 16);
  EXPECT(strcmp(attn_result_name(result, 1), "native") == 0 && strcmp(digest, native) == 0);
  attn_result_free(result);
  EXPECT_ERROR(attn_bitwise_digest("abacus", &result), ATTN_NOT_FOUND, "abacus");
  EXPECT_ERROR(attn_bitwise_digest(NULL, NULL), ATTN_INVALID_ARGUMENT, "result is null");
}

void TestRules(void) {
  TestEachRule();
  TestPages();
  TestBackwardWithSink();
  TestMerge();
  TestNorm();
  TestRotary();
  TestThreads();
  TestDigest();
}
