// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_NATIVE_CLI_COMPARE_H_
#define ATTN_NATIVE_CLI_COMPARE_H_

#include <string>

#include "cli/array.h"
#include "cli/case_file.h"
#include "cli/output.h"

namespace attn::cli {

// What is wrong with an output, as "O max_abs=0.5 at [0,0,1,2] ...", or nothing. Shapes first, then
// places and signs of non-finite values, then |got - want| <= atol + rtol |want|. max_abs is the
// largest error among the elements out of tolerance, and its place.
std::string Difference(const Output& got, const Array& want, const Tolerance& tolerance);

// The first element whose bits differ between two runs, or nothing.
std::string BitDifference(const Run& first, const Run& again, int64_t run, int64_t runs);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_COMPARE_H_
