/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface from C: compiled as C11 with -pedantic-errors, linked to the shared library. */
#include "attn_c_test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int passed = 0, failed = 0;

void Expect(int holds, const char* what, int line) {
  if (holds) {
    ++passed;
    return;
  }
  ++failed;
  printf("FAIL line %d: %s (last error: %s)\n", line, what, attn_last_error());
}

/* Step 1 of the article: three tokens of four numbers. */
static float q[12] = {1, 1, 0, 0, 0, 0, 0, 2, 2, 0, 2, 0};
static float k[12] = {1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0};
static float v[12] = {1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 3};

static void TestLibrary(void) {
  int32_t i;
  EXPECT(attn_abi_version() == ATTN_ABI_VERSION);
  EXPECT(strcmp(attn_version(), "") != 0);
  EXPECT(attn_backend_count() >= 2);
  EXPECT(strcmp(attn_backend_name(0), "reference") == 0);
  EXPECT(attn_backend_name(-1) == NULL);
  EXPECT(attn_backend_name(attn_backend_count()) == NULL);
  for (i = 0; i < attn_backend_count(); ++i) EXPECT(attn_backend_lanes(i, ATTN_F32) >= 1);
  EXPECT(attn_backend_lanes(0, 2) == 0);
}

static void TestForward(void) {
  float o[12], lse[3];
  attn_tensor tq = ATTN_TENSOR(ATTN_F32, q, 4, 1, 1, 3, 4);
  attn_tensor tk = ATTN_TENSOR(ATTN_F32, k, 4, 1, 1, 3, 4);
  attn_tensor tv = ATTN_TENSOR(ATTN_F32, v, 4, 1, 1, 3, 4);
  attn_tensor to = ATTN_TENSOR(ATTN_F32, o, 4, 1, 1, 3, 4);
  attn_tensor tl = ATTN_TENSOR(ATTN_F32, lse, 3, 1, 1, 3, 1);
  attn_attention_options options = ATTN_ATTENTION_OPTIONS;
  const double sum = exp(2.0) + 1 + exp(1.0); /* token 3 scores 2, 0, 1 */
  int32_t i;
  for (i = 0; i < attn_backend_count(); ++i) {
    memset(o, 0, sizeof(o));
    EXPECT(attn_attention_forward(attn_backend_name(i), NULL, NULL, &tq, &tk, &tv, &to, &tl) ==
           ATTN_OK);
    EXPECT(Near(lse[2], log(sum), 1e-6));
    EXPECT(Near(o[8], exp(2.0) / sum, 1e-6));
    EXPECT(Near(o[9], 2 / sum, 1e-6));
    EXPECT(Near(o[11], 3 * exp(1.0) / sum, 1e-6));
  }
  /* Causal: token 1 sees itself alone. */
  options.causal = 1;
  EXPECT(attn_attention_forward(NULL, &options, NULL, &tq, &tk, &tv, &to, NULL) == ATTN_OK);
  EXPECT(o[0] == 1 && o[1] == 0 && o[2] == 1 && o[3] == 0);
  /* An offset that hides everything. */
  options.has_query_offset = 1;
  options.query_offset = -3;
  EXPECT(attn_attention_forward(NULL, &options, NULL, &tq, &tk, &tv, &to, &tl) == ATTN_OK);
  EXPECT(o[11] == 0 && lse[2] == -INFINITY);
}

static void TestBadInput(void) {
  float o[12];
  double wide[12];
  attn_tensor tq = ATTN_TENSOR(ATTN_F32, q, 4, 1, 1, 3, 4);
  attn_tensor tk = ATTN_TENSOR(ATTN_F32, k, 4, 1, 1, 3, 4);
  attn_tensor tv = ATTN_TENSOR(ATTN_F32, v, 4, 1, 1, 3, 4);
  attn_tensor to = ATTN_TENSOR(ATTN_F32, o, 4, 1, 1, 3, 4);
  attn_tensor bad;
  attn_attention_options options = ATTN_ATTENTION_OPTIONS;
  o[0] = 42;
#define FORWARD(Q, K, V, O) attn_attention_forward(NULL, &options, NULL, (Q), (K), (V), (O), NULL)
  bad = tk, bad.shape[3] = 3;
  EXPECT_ERROR(FORWARD(&tq, &bad, &tv, &to), ATTN_INVALID_ARGUMENT, "K has width 3, Q has width 4");
  bad = tq, bad.size = 80;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "80 bytes");
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "88");
  bad = tq, bad.rank = 3;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "q: rank 3, needed is 4");
  bad = tq, bad.dtype = 7;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "dtype 7");
  bad = tk, bad.dtype = ATTN_F64, bad.data = wide;
  EXPECT_ERROR(FORWARD(&tq, &bad, &tv, &to), ATTN_INVALID_ARGUMENT,
               "k: dtype 1, needed is 0 (f32)");
  bad = tv, bad.data = NULL;
  EXPECT_ERROR(FORWARD(&tq, &tk, &bad, &to), ATTN_INVALID_ARGUMENT, "v: data is null");
  bad = tv, bad.data = (char*)v + 1;
  EXPECT_ERROR(FORWARD(&tq, &tk, &bad, &to), ATTN_INVALID_ARGUMENT, "v: data is not aligned");
  bad = tq, bad.shape[2] = -3;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "q: extent -3 of axis 2");
  bad = tq, bad.strides[2] = INT64_MAX / 2;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "beyond the address space");
  bad = tq, bad.strides[2] = INT64_MIN;
  EXPECT_ERROR(FORWARD(&bad, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "beyond the address space");
  bad = to, bad.strides[2] = 0;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &bad), ATTN_INVALID_ARGUMENT, "stride 0");
  EXPECT_ERROR(FORWARD(NULL, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "q is null");
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, NULL), ATTN_INVALID_ARGUMENT, "o is null");
  options.form = 9;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "form 9");
  options.form = ATTN_FLASH, options.align = -1;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "align -1");
  options.align = 0, options.has_window_left = 2;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "has_window_left 2");
  options.has_window_left = 1, options.window_left = -4;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "left is -4");
  options.has_window_left = 0, options.softcap = -1;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "softcap is negative");
  options.softcap = 0, options.kv_splits = -2;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "-2");
  options.kv_splits = 0, options.size = 4;
  EXPECT_ERROR(FORWARD(&tq, &tk, &tv, &to), ATTN_INVALID_ARGUMENT, "options: the caller's struct");
  EXPECT_ERROR(attn_attention_forward("cuda:99", NULL, NULL, &tq, &tk, &tv, &to, NULL),
               ATTN_NOT_FOUND, "cuda:99");
  EXPECT(o[0] == 42); /* untouched by all of them */
}

static void TestStrides(void) {
  /* Rows of a wider array, read backwards: x[1] then x[0]. */
  double x[8] = {0, 1, 9, 9, 3, 3, 9, 9}, p[4];
  attn_tensor tx = ATTN_TENSOR(ATTN_F64, x + 4, 2, 2, 2, 1, 1);
  attn_tensor tp = ATTN_TENSOR(ATTN_F64, p, 2, 2, 2, 1, 1);
  tx.strides[0] = -4;
  EXPECT(attn_softmax_rows(NULL, &tx, &tp, NULL) == ATTN_OK);
  EXPECT(p[0] == 0.5 && p[1] == 0.5);
  EXPECT(Near(p[3], exp(1.0) / (1 + exp(1.0)), 1e-15));
}

static void TestBackward(void) {
  attn_result* result = NULL;
  int32_t i;
  EXPECT(attn_check_backward(NULL, 0, 6, 4, &result) == ATTN_OK);
  EXPECT(attn_result_count(result) == 3);
  for (i = 0; i < 3; ++i) {
    EXPECT(attn_result_length(result, i) == 1);
    EXPECT(attn_result_numbers(result, i)[0] < 1e-14);
  }
  EXPECT(strcmp(attn_result_name(result, 0), "dq") == 0);
  EXPECT(attn_result_name(result, 3) == NULL && attn_result_numbers(result, -1) == NULL);
  EXPECT(attn_result_text(result, 0) == NULL);
  attn_result_free(result);
  EXPECT_ERROR(attn_check_backward(NULL, 0, 1000, 4, &result), ATTN_INVALID_ARGUMENT, "1000");
  EXPECT_ERROR(attn_check_backward(NULL, 0, 6, 4, NULL), ATTN_INVALID_ARGUMENT, "result is null");
}

static void TestRandom(void) {
  double x[5];
  attn_generator* generator = NULL;
  EXPECT(attn_generator_create(12345, &generator) == ATTN_OK);
  EXPECT(attn_generator_standard_normal(generator, 3, x) == ATTN_OK);
  EXPECT(attn_generator_random(generator, 2, x + 3) == ATTN_OK);
  EXPECT(x[0] == -1.4238250364546312 && x[1] == 1.2637284581291104 && x[2] == -0.8706617379590857);
  EXPECT(x[3] == 0.6762546707509746 && x[4] == 0.391109550601909);
  EXPECT_ERROR(attn_generator_random(generator, -1, x), ATTN_INVALID_ARGUMENT, "n is -1");
  EXPECT_ERROR(attn_generator_random(NULL, 1, x), ATTN_INVALID_ARGUMENT, "generator is null");
  attn_generator_free(generator);
  attn_generator_free(NULL);
}

static void TestScaling(void) {
  attn_scaling* scaling = NULL;
  attn_result* row = NULL;
  attn_score_rule rule = ATTN_SCORE_RULE;
  int64_t remaining = -1;
  EXPECT(attn_scaling_create(0, 20, 64, &scaling) == ATTN_OK);
  EXPECT(attn_scaling_begin(scaling, 16) == ATTN_OK);
  EXPECT(attn_scaling_advance(scaling, 15, &remaining) == ATTN_OK && remaining == 5);
  EXPECT_ERROR(attn_scaling_measure(scaling, &rule, &row), ATTN_INVALID_ARGUMENT, "5");
  EXPECT(attn_scaling_advance(scaling, 5, NULL) == ATTN_OK);
  EXPECT(attn_scaling_measure(scaling, &rule, &row) == ATTN_OK);
  EXPECT(attn_result_numbers(row, 0)[0] == 16);
  attn_result_free(row);
  rule.divisor = 5;
  EXPECT_ERROR(attn_scaling_measure(scaling, &rule, &row), ATTN_INVALID_ARGUMENT, "divisor 5");
  EXPECT_ERROR(attn_scaling_begin(NULL, 16), ATTN_INVALID_ARGUMENT, "scaling is null");
  attn_scaling_free(scaling);
}

static void TestReportAndCosts(void) {
  attn_report* report = NULL;
  attn_result* result = NULL;
  attn_model_shape model = {sizeof(attn_model_shape), 0, 32, 32, 4096, 32, 8, 128, 0, 0, 0};
  int32_t i, f, differs = 0;
  EXPECT(attn_report_create(NULL, &report) == ATTN_OK);
  EXPECT(attn_report_count(report) > 30);
  for (i = 0; i < attn_report_count(report); ++i) {
    EXPECT(attn_report_figure(report, i, &result) == ATTN_OK);
    for (f = 0; f < attn_result_count(result); ++f) {
      if (strcmp(attn_result_name(result, f), "verdict") != 0) continue;
      if (strcmp(attn_result_text(result, f), "differs") == 0) ++differs;
    }
    attn_result_free(result);
  }
  EXPECT(differs == 0);
  EXPECT_ERROR(attn_report_figure(report, 10000, &result), ATTN_INVALID_ARGUMENT, "index 10000");
  attn_report_free(report);

  EXPECT(attn_model_count() >= 6);
  EXPECT(attn_model_costs(&model, &result) == ATTN_OK);
  EXPECT(strcmp(attn_result_name(result, 2), "crossover_token") == 0);
  EXPECT(attn_result_numbers(result, 2)[0] == 5120);
  attn_result_free(result);
  model.heads = 0;
  EXPECT_ERROR(attn_model_costs(&model, &result), ATTN_INVALID_ARGUMENT, "heads is 0");
  model.heads = INT64_MAX;
  EXPECT_ERROR(attn_model_costs(&model, &result), ATTN_INVALID_ARGUMENT,
               "heads is 9223372036854775807");
  model.heads = 32;
  EXPECT_ERROR(attn_cost_at(&model, INT64_MAX, 128, 1, 2, &result), ATTN_INVALID_ARGUMENT, "2^63");
}

int main(void) {
  TestLibrary();
  TestForward();
  TestBadInput();
  TestStrides();
  TestBackward();
  TestRules();
  TestRandom();
  TestScaling();
  TestReportAndCosts();
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
