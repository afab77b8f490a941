// SPDX-License-Identifier: Apache-2.0
#ifndef ATTN_WASM_ABI_RESULT_H_
#define ATTN_WASM_ABI_RESULT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attn.h"
#include "attn/status.h"

struct attn_result {
  struct Field {
    const char* name;  // a literal
    std::vector<double> numbers;
    std::string text;
    bool is_text;
  };
  std::vector<Field> fields;

  // f32 and integers below 2^53 are exact as doubles.
  template <class T>
  void Add(const char* name, const std::vector<T>& values) {
    fields.push_back({name, std::vector<double>(values.begin(), values.end()), {}, false});
  }
  void Add(const char* name, double value) { fields.push_back({name, {value}, {}, false}); }
  void Add(const char* name, std::string text) {
    fields.push_back({name, {}, std::move(text), true});
  }
};

namespace attn::abi {

// fill(attn_result&) on success of `from`, then hands the result over.
template <class T, class Fill>
Status Deliver(const Result<T>& from, attn_result** to, Fill fill) {
  if (!from.ok()) return from.status();
  std::unique_ptr<attn_result> made(new (std::nothrow) attn_result);
  if (made == nullptr) return Status(StatusCode::kOutOfMemory, "a result");
  fill(*from, *made);
  *to = made.release();
  return {};
}

}  // namespace attn::abi

#endif  // ATTN_WASM_ABI_RESULT_H_
