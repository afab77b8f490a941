// SPDX-License-Identifier: Apache-2.0
#include "cli/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace attn::cli {
namespace {

// No operation has more than four axes; the limit keeps a file of a million brackets from
// overflowing the stack.
constexpr size_t kMaxRank = 8;

std::optional<double> NumberOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Reads elements in order into an Array and remembers where it is, for messages.
class ElementReader {
 public:
  ElementReader(const std::string& where, Array& array) : where_(where), array_(array) {}

  Status Lists(const Json& node, size_t depth) {
    if (depth == array_.shape.size()) return Element(node);
    if (!node.is_array()) {
      return InvalidArgument(Place(), " is ", Excerpt(node), ", its siblings are lists");
    }
    if (static_cast<int64_t>(node.size()) != array_.shape[depth]) {
      return InvalidArgument(Place(), " has ", static_cast<int64_t>(node.size()),
                             " elements, its siblings have ", array_.shape[depth]);
    }
    at_.push_back(0);
    for (const Json& child : node) {
      ATTN_RETURN_IF_ERROR(Lists(child, depth + 1));
      ++at_.back();
    }
    at_.pop_back();
    return {};
  }

 private:
  std::string Place() const {
    std::string text = where_;
    for (const int64_t i : at_) text += fmt::format("[{}]", i);
    return text;
  }

  Status Element(const Json& node) {
    const std::optional<double> number = NumberOf(node);
    if (!number) {
      return InvalidArgument(Place(), " is ", Excerpt(node),
                             ", needed is a number or \"nan\", \"inf\", \"-inf\"");
    }
    if (array_.data.empty()) array_.boolean = node.is_boolean();
    if (array_.boolean != node.is_boolean()) {
      return InvalidArgument(Place(), " is ", Excerpt(node), ", the elements before it are ",
                             array_.boolean ? "booleans" : "numbers");
    }
    array_.data.push_back(*number);
    return {};
  }

  const std::string& where_;
  Array& array_;
  std::vector<int64_t> at_;
};

void SetDenseStrides(Array& array) {
  array.strides.assign(array.shape.size(), 1);
  for (size_t i = array.shape.size(); i-- > 1;) {
    array.strides[i - 1] = array.strides[i] * std::max<int64_t>(array.shape[i], 1);
  }
}

Result<Array> ReadNested(const std::string& where, const Json& json) {
  Array array;
  const Json* node = &json;
  while (node->is_array()) {
    if (array.shape.size() == kMaxRank) {
      return InvalidArgument(where, " is nested more than ", static_cast<int64_t>(kMaxRank),
                             " lists deep");
    }
    array.shape.push_back(static_cast<int64_t>(node->size()));
    if (node->empty()) {
      array.open_ended = true;
      break;
    }
    node = &(*node)[0];
  }
  ATTN_RETURN_IF_ERROR(ElementReader(where, array).Lists(json, 0));
  SetDenseStrides(array);
  return array;
}

Status ReadIntegers(const std::string& where, const Json& json, std::vector<int64_t>& out) {
  if (!json.is_array()) return InvalidArgument(where, " is ", Excerpt(json), ", needed is a list");
  for (const Json& item : json) {
    const bool fits =
        item.is_number_integer() &&
        !(item.is_number_unsigned() && item.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
    if (!fits) return InvalidArgument(where, " holds ", Excerpt(item), ", needed are integers");
    out.push_back(item.get<int64_t>());
  }
  return {};
}

// The lowest and highest element that a view reaches; false when they overflow 64 bits.
bool Reach(const Array& array, int64_t& low, int64_t& high) {
  low = high = array.offset;
  for (size_t i = 0; i < array.shape.size(); ++i) {
    int64_t span;
    if (__builtin_mul_overflow(array.shape[i] - 1, array.strides[i], &span)) return false;
    int64_t& end = span < 0 ? low : high;
    if (__builtin_add_overflow(end, span, &end)) return false;
  }
  return true;
}

Status CheckReach(const std::string& where, const Array& array) {
  if (std::ranges::count(array.shape, 0) > 0) return {};
  const auto size = static_cast<int64_t>(array.data.size());
  int64_t low, high;
  const bool fits = Reach(array, low, high);
  if (fits && low >= 0 && high < size) return {};
  const std::string element =
      fits ? fmt::format("element {}", low < 0 ? low : high) : std::string("beyond 64-bit indices");
  return InvalidArgument(where, ": shape ", ShapeText(array.shape), ", strides ",
                         ShapeText(array.strides), ", offset ", array.offset, " reach ", element,
                         ", data has ", size, " elements");
}

Result<Array> ReadView(const std::string& where, const Json& json) {
  for (const auto& [key, value] : json.items()) {
    if (key != "data" && key != "shape" && key != "strides" && key != "offset") {
      return InvalidArgument(where, " has an unknown field ", Json(key).dump(),
                             ", a view has data, shape, strides, offset");
    }
  }
  for (const char* key : {"data", "shape", "strides"}) {
    if (!json.contains(key)) return InvalidArgument(where, " has no ", key);
  }
  if (!json["data"].is_array()) {
    return InvalidArgument(where, ".data is ", Excerpt(json["data"]), ", needed is a list");
  }
  Array array;
  array.shape = {static_cast<int64_t>(json["data"].size())};
  ATTN_RETURN_IF_ERROR(ElementReader(where + ".data", array).Lists(json["data"], 0));
  array.shape.clear();
  ATTN_RETURN_IF_ERROR(ReadIntegers(where + ".shape", json["shape"], array.shape));
  ATTN_RETURN_IF_ERROR(ReadIntegers(where + ".strides", json["strides"], array.strides));
  std::vector<int64_t> offset = {0};
  if (json.contains("offset")) {
    offset.clear();
    ATTN_RETURN_IF_ERROR(ReadIntegers(where + ".offset", Json::array({json["offset"]}), offset));
  }
  array.offset = offset[0];
  for (const int64_t extent : array.shape) {
    if (extent < 0) return InvalidArgument(where, ".shape holds ", extent);
  }
  if (array.shape.size() > kMaxRank || array.shape.size() != array.strides.size()) {
    return InvalidArgument(where, " has shape ", ShapeText(array.shape), " and strides ",
                           ShapeText(array.strides), ": needed are equally many, at most ",
                           static_cast<int64_t>(kMaxRank));
  }
  ATTN_RETURN_IF_ERROR(CheckReach(where, array));
  ATTN_RETURN_IF_ERROR(CheckSize(where, array.shape));
  return array;
}

}  // namespace

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) {
    text += text.empty() ? "" : ",";
    text += extent == kAnyExtent ? "?" : std::to_string(extent);
  }
  return "[" + text + "]";
}

double Span(const std::vector<int64_t>& shape) {
  double span = 1;
  for (const int64_t extent : shape) span *= static_cast<double>(std::max<int64_t>(extent, 1));
  return span;
}

Status CheckSize(const std::string& where, const std::vector<int64_t>& shape) {
  const double span = Span(shape);
  if (span <= static_cast<double>(kMaxElements)) return {};
  return InvalidArgument(where, " has shape ", ShapeText(shape), ", ", fmt::format("{:.0f}", span),
                         " elements, a tensor of a case has at most ", kMaxElements);
}

Result<Array> ReadArray(const std::string& where, const Json& json) {
  return json.is_object() ? ReadView(where, json) : ReadNested(where, json);
}

Status SetRank(const std::string& where, size_t rank, Array& array) {
  if (array.open_ended && array.shape.size() < rank) {
    array.shape.resize(rank, kAnyExtent);
    array.strides.resize(rank, 1);
  }
  if (array.shape.size() == rank) return {};
  return InvalidArgument(where, " has rank ", static_cast<int64_t>(array.shape.size()), " (shape ",
                         ShapeText(array.shape), "), needed is rank ", static_cast<int64_t>(rank));
}

void PrependAxes(size_t count, Array& array) {
  array.shape.insert(array.shape.begin(), count, 1);
  array.strides.insert(array.strides.begin(), count, 0);
}

void FillOpenAxes(const std::vector<int64_t>& like, Array& array) {
  for (size_t i = 0; i < array.shape.size(); ++i) {
    if (array.shape[i] != kAnyExtent) continue;
    array.shape[i] = i < like.size() && like[i] != kAnyExtent ? like[i] : 1;
  }
}

template <class T, size_t kRank>
Status Load(const std::string& where, const Array& array, Tensor<T, kRank>& tensor) {
  constexpr bool kBooleans = std::is_same_v<T, uint8_t>;
  if (array.boolean != kBooleans && !array.data.empty()) {
    return InvalidArgument(where, kBooleans ? " holds numbers, needed are booleans"
                                            : " holds booleans, needed are numbers");
  }
  // Never empty: a view without a pointer means "absent" to the library.
  tensor.data.reserve(array.data.size() + 1);
  for (const double value : array.data) {
    if constexpr (std::is_floating_point_v<T> || kIsHalf<T>) {
      const T rounded = RoundTo<T>(value);
      if (std::isfinite(value) && !std::isfinite(ToDouble(rounded))) {
        return InvalidArgument(where, " holds ", fmt::format("{}", value), ", which does not fit ",
                               Name(DTypeOf<T>()));
      }
      tensor.data.push_back(rounded);
    } else {
      // Up to 2^53 a double is exact, and so is the conversion.
      if (!(std::abs(value) <= 0x1p53) || value != std::floor(value)) {
        return InvalidArgument(where, " holds ", fmt::format("{}", value), ", needed are integers");
      }
      tensor.data.push_back(static_cast<T>(value));
    }
  }
  if (tensor.data.empty()) tensor.data.push_back(T{});
  tensor.view.data = tensor.data.data();
  std::ranges::copy(array.shape, tensor.view.shape.begin());
  // Without elements nothing was checked, and an offset of 10^18 must not move a pointer.
  if (std::ranges::count(array.shape, 0) > 0) return {};
  tensor.view.data += array.offset;
  std::ranges::copy(array.strides, tensor.view.strides.begin());
  return {};
}

template Status Load(const std::string&, const Array&, Tensor<int64_t, 1>&);
template Status Load(const std::string&, const Array&, Tensor<int64_t, 2>&);
template Status Load(const std::string&, const Array&, Tensor<uint8_t, 4>&);
template Status Load(const std::string&, const Array&, Tensor<BFloat16, 4>&);
template Status Load(const std::string&, const Array&, Tensor<Float16, 4>&);
#define ATTN_INSTANTIATE(kRank)                                                  \
  template Status Load(const std::string&, const Array&, Tensor<float, kRank>&); \
  template Status Load(const std::string&, const Array&, Tensor<double, kRank>&);
ATTN_INSTANTIATE(1)
ATTN_INSTANTIATE(2)
ATTN_INSTANTIATE(3)
ATTN_INSTANTIATE(4)
#undef ATTN_INSTANTIATE

}  // namespace attn::cli
