/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the test of the C interface share. */
#ifndef ATTN_C_TEST_H_
#define ATTN_C_TEST_H_

#include <math.h>
#include <string.h>

#include "attn.h"

/* Counts, and prints what does not hold. */
void Expect(int holds, const char* what, int line);
#define EXPECT(condition) Expect((condition), #condition, __LINE__)

/* The call fails with this code and its message has this text. */
#define EXPECT_ERROR(call, code, text)              \
  do {                                              \
    EXPECT((call) == (code));                       \
    EXPECT(strstr(attn_last_error(), (text)) != 0); \
  } while (0)

#define Near(a, b, tolerance) (fabs((a) - (b)) <= (tolerance))

/* attn_c_rules_test.c: rules of attention, what stands around it, threads. */
void TestRules(void);

#endif /* ATTN_C_TEST_H_ */
