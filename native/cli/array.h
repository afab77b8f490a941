// SPDX-License-Identifier: Apache-2.0
// The tensors of a case file: nested lists, or views {data, shape, strides, offset}.
#ifndef ATTN_NATIVE_CLI_ARRAY_H_
#define ATTN_NATIVE_CLI_ARRAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attn/backend.h"
#include "attn/status.h"
#include "attn/tensor.h"
#include "cli/json_file.h"

namespace attn::cli {

// The extent of an axis that a nested list cannot tell: a [1][1][0][4] tensor is written [[[]]].
// Such an axis takes whatever extent the other tensors need.
inline constexpr int64_t kAnyExtent = -1;

// Elements as the file has them; the layout of a view is kept, never made dense.
struct Array {
  std::vector<double> data;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  int64_t offset = 0;
  bool boolean = false;     // else numbers
  bool open_ended = false;  // a nested list that ends in []: axes may follow
};

// `where` begins every message: "inputs.Q". Errors: ragged lists, what is neither a number nor one
// of "nan", "inf", "-inf", numbers mixed with booleans, a view that leaves its data.
Result<Array> ReadArray(const std::string& where, const Json& json);

// Appends axes of kAnyExtent to an open-ended array; an error when it cannot have that rank.
Status SetRank(const std::string& where, size_t rank, Array& array);

// Puts axes of extent 1 in front.
void PrependAxes(size_t count, Array& array);

// Gives each axis of kAnyExtent the extent that `like` has there, or 1 where it has none either.
void FillOpenAxes(const std::vector<int64_t>& like, Array& array);

// Strides of 0 make a tensor of any size out of a few bytes of file. 2^28 elements are 2 GiB of
// f64. An extent of 0 counts as 1: the other extents of an empty tensor are loops all the same.
inline constexpr int64_t kMaxElements = int64_t{1} << 28;
double Span(const std::vector<int64_t>& shape);
Status CheckSize(const std::string& where, const std::vector<int64_t>& shape);

std::string ShapeText(const std::vector<int64_t>& shape);  // "[1,2,?,4]"

// Elements of type T in the array's own layout, and the view that the library reads.
template <class T, size_t kRank>
struct Tensor {
  std::vector<T> data;
  View<const T, kRank> view;
};

// T is a floating-point type (also of 16 bits), to which numbers are rounded, int64_t or, for
// booleans, uint8_t. The array has rank kRank and no open axis. Errors: booleans among numbers and
// the reverse, a finite number that has no finite T, a number that is no integer.
template <class T, size_t kRank>
Status Load(const std::string& where, const Array& array, Tensor<T, kRank>& tensor);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_ARRAY_H_
