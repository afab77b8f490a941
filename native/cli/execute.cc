// SPDX-License-Identifier: Apache-2.0
#include "cli/execute.h"

#include "cli/compare.h"
#include "cli/operation.h"
#include "cli/threads.h"

namespace attn::cli {

Result<Execution> Execute(const Case& c, const Backend& backend, DType dtype, const Names& wanted) {
  ATTN_RETURN_IF_ERROR(CheckSupport(c, backend, dtype, wanted));
  Execution execution;
  const auto repeats = static_cast<int64_t>(c.threads.size()) * c.repeat;
  for (const int64_t kv_splits : c.kv_splits) {
    std::optional<Run> first;
    int64_t count = 0;
    for (const int64_t threads : c.threads) {
      const Result<const Backend*> on = OnThreads(backend, threads);
      if (!on.ok()) return on.status();
      for (int64_t i = 0; i < c.repeat && execution.differs.empty(); ++i) {
        Result<Run> run = c.operation->run(c, **on, {dtype, kv_splits}, wanted);
        if (!run.ok()) return run.status();
        ++count;
        if (first) execution.differs = BitDifference(*first, *run, count, repeats);
        if (!first) first = std::move(*run);
      }
    }
    if (first) execution.runs.push_back(std::move(*first));
  }
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
