// SPDX-License-Identifier: Apache-2.0
#include "attn/random.h"

#include <new>

#include "abi/abi.h"

struct attn_generator {
  attn::Generator stream;
};

namespace {

using attn::InvalidArgument;
using attn::Status;
using attn::abi::Report;

Status CheckFill(const attn_generator* generator, int64_t n, const double* out) {
  if (generator == nullptr) return InvalidArgument("generator is null");
  if (n < 0 || n > PTRDIFF_MAX / int64_t{sizeof(double)}) return InvalidArgument("n is ", n);
  if (out == nullptr && n > 0) return InvalidArgument("out is null");
  return {};
}

}  // namespace

attn_status attn_generator_create(uint64_t seed, attn_generator** generator) {
  if (generator == nullptr) return Report(InvalidArgument("generator is null"));
  auto* made = new (std::nothrow) attn_generator{attn::Generator(seed)};
  if (made == nullptr) return Report(Status(attn::StatusCode::kOutOfMemory, "a generator"));
  *generator = made;
  return ATTN_OK;
}

void attn_generator_free(attn_generator* generator) { delete generator; }

attn_status attn_generator_standard_normal(attn_generator* generator, int64_t n, double* out) {
  if (Status status = CheckFill(generator, n, out); !status.ok()) return Report(status);
  generator->stream.StandardNormal({out, static_cast<size_t>(n)});
  return ATTN_OK;
}

attn_status attn_generator_random(attn_generator* generator, int64_t n, double* out) {
  if (Status status = CheckFill(generator, n, out); !status.ok()) return Report(status);
  for (int64_t i = 0; i < n; ++i) out[i] = generator->stream.Random();
  return ATTN_OK;
}
