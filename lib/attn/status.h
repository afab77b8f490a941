// SPDX-License-Identifier: Apache-2.0
// Errors are values: nothing in lib/ throws, aborts or prints.
#ifndef ATTN_STATUS_H_
#define ATTN_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

enum class StatusCode : int32_t {
  kOk = 0,
  kInvalidArgument = 1,  // the caller's values do not fit together
  kUnsupported = 2,      // meaningful, but this backend does not do it
  kNotFound = 3,         // no such name
  kOutOfMemory = 4,
};

// The outcome of an operation. A message names the argument and the values that do not fit. An
// operation that fails leaves its outputs untouched.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

namespace internal {
inline void AppendPart(std::string& out, std::string_view text) { out += text; }
inline void AppendPart(std::string& out, int64_t number) { out += std::to_string(number); }
}  // namespace internal

// Joins texts and integers: Message("K has width ", 3, ", Q has ", 4).
template <class... Parts>
std::string Message(const Parts&... parts) {
  std::string out;
  (internal::AppendPart(out, parts), ...);
  return out;
}

template <class... Parts>
Status InvalidArgument(const Parts&... parts) {
  return Status(StatusCode::kInvalidArgument, Message(parts...));
}

template <class... Parts>
Status Unsupported(const Parts&... parts) {
  return Status(StatusCode::kUnsupported, Message(parts...));
}

#define ATTN_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                       \
    if (::attn::Status attn_status_ = (expression); !attn_status_.ok()) return attn_status_; \
  } while (false)

}  // namespace attn

#endif  // ATTN_STATUS_H_
