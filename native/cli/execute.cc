// SPDX-License-Identifier: Apache-2.0
#include "cli/execute.h"

#include "cli/compare.h"
#include "cli/operation.h"

namespace attn::cli {

Result<Execution> Execute(const Case& c, const Backend& backend, DType dtype, const Names& wanted) {
  ATTN_RETURN_IF_ERROR(CheckSupport(c, backend, dtype, wanted));
  Result<Run> first = c.operation->run(c, backend, dtype, wanted);
  if (!first.ok()) return first.status();
  Execution execution;
  for (int64_t i = 2; i <= c.repeat && execution.differs.empty(); ++i) {
    const Result<Run> again = c.operation->run(c, backend, dtype, wanted);
    if (!again.ok()) return again.status();
    execution.differs = BitDifference(*first, *again, i, c.repeat);
  }
  execution.run = std::move(*first);
  return execution;
}

DType DTypeFor(const Backend& backend, std::optional<DType> asked) {
  return asked.value_or(&backend == &ReferenceBackend() ? DType::kF64 : DType::kF32);
}

const Backend& ChooseBackend(const Case& c, std::optional<DType> asked, const Names& wanted) {
  const Backend& fastest = DefaultBackend();
  const Status support = CheckSupport(c, fastest, DTypeFor(fastest, asked), wanted);
  return support.ok() ? fastest : ReferenceBackend();
}

}  // namespace attn::cli
