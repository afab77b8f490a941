// SPDX-License-Identifier: Apache-2.0
#include "abi/result.h"

namespace {

const attn_result::Field* At(const attn_result* result, int32_t index) {
  if (index < 0 || index >= attn_result_count(result)) return nullptr;
  return &result->fields[static_cast<size_t>(index)];
}

}  // namespace

void attn_result_free(attn_result* result) { delete result; }

int32_t attn_result_count(const attn_result* result) {
  return result == nullptr ? 0 : static_cast<int32_t>(result->fields.size());
}

const char* attn_result_name(const attn_result* result, int32_t index) {
  const auto* field = At(result, index);
  return field == nullptr ? nullptr : field->name;
}

const char* attn_result_text(const attn_result* result, int32_t index) {
  const auto* field = At(result, index);
  return field == nullptr || !field->is_text ? nullptr : field->text.c_str();
}

int64_t attn_result_length(const attn_result* result, int32_t index) {
  const auto* field = At(result, index);
  return field == nullptr ? 0 : static_cast<int64_t>(field->numbers.size());
}

const double* attn_result_numbers(const attn_result* result, int32_t index) {
  const auto* field = At(result, index);
  return field == nullptr || field->is_text ? nullptr : field->numbers.data();
}
