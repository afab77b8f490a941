// SPDX-License-Identifier: Apache-2.0
// `attn check`: one line a file and backend, then the totals.
#include <fmt/format.h>

#include <new>

#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/execute.h"
#include "cli/operation.h"

namespace attn::cli {
namespace {

enum class Outcome { kPass, kFail, kSkip };

class Checker {
 public:
  explicit Checker(const CaseOptions& options) : options_(options) {}

  // False when --backend names none.
  Status ChooseBackends() {
    if (options_.backend == "all") {
      for (const Backend& backend : Backends()) backends_.push_back(&backend);
    } else if (!options_.backend.empty()) {
      Result<const Backend*> backend = NamedBackend(options_.backend);
      if (!backend.ok()) return backend.status();
      backends_.push_back(*backend);
    }
    return {};
  }

  Status CheckFile(const std::string& path) {
    Result<CaseFile> file = ReadCaseFile(path);
    if (!file.ok()) return file.status();
    Result<Case> prepared = PrepareCase(*file, Purpose::kCheck);
    if (!prepared.ok()) {
      if (prepared.status().code() == StatusCode::kInvalidArgument) return prepared.status();
      for (const Backend* backend :
           backends_.empty() ? std::vector{&DefaultBackend()} : backends_) {
        ATTN_RETURN_IF_ERROR(
            Report(Outcome::kFail, file->name, *backend, prepared.status().message()));
      }
      return {};
    }
    Names wanted;
    for (const auto& [key, value] : prepared->expected) wanted.push_back(key);
    if (backends_.empty()) {
      return CheckOn(*prepared, ChooseBackend(*prepared, options_.dtype, wanted), wanted);
    }
    for (const Backend* backend : backends_) {
      ATTN_RETURN_IF_ERROR(CheckOn(*prepared, *backend, wanted));
    }
    return {};
  }

  int Finish(bool unreadable) {
    const Status written = WriteStandardOutput(
        fmt::format("{} passed, {} failed, {} skipped\n", counts_[0], counts_[1], counts_[2]));
    if (!written.ok()) return Complain(written.message());
    return unreadable ? 2 : counts_[1] > 0 ? 1 : 0;
  }

 private:
  // Errors: inputs that do not fit together (no backend can tell more) or into memory, a closed
  // output.
  Status CheckOn(const Case& c, const Backend& backend, const Names& wanted) {
    const DType dtype = DTypeFor(backend, options_.dtype);
    const std::optional<Tolerance> tolerance = c.tolerance(dtype);
    if (!tolerance) return InvalidArgument("tolerance has nothing for ", Name(dtype));
    const Result<Execution> execution = Execute(c, backend, dtype, wanted);
    if (!execution.ok()) {
      const Status& status = execution.status();
      if (status.code() == StatusCode::kInvalidArgument ||
          status.code() == StatusCode::kOutOfMemory) {
        return status;
      }
      const bool skip = status.code() == StatusCode::kUnsupported;
      return Report(skip ? Outcome::kSkip : Outcome::kFail, c.name, backend, status.message());
    }
    // On standard error, so that a line of verdict holds nothing else.
    if (!c.idle_lists.empty()) {
      fmt::print(stderr, "note: {} {}: {} without meaning here, one run stands for every value\n",
                 c.name, backend.name, Join(c.idle_lists));
    }
    std::string wrong = execution->differs;
    for (size_t i = 0; i < execution->runs.size(); ++i) {
      for (const Output& output : execution->runs[i].outputs) {
        const auto want = c.expected.find(output.name);
        if (want == c.expected.end()) continue;
        const std::string difference = Difference(output, want->second, *tolerance);
        if (difference.empty()) continue;
        wrong += (wrong.empty() ? "" : "; ") + difference;
        if (c.kv_splits[i] > 0) wrong += fmt::format(" (kv_splits {})", c.kv_splits[i]);
      }
    }
    return Report(wrong.empty() ? Outcome::kPass : Outcome::kFail, c.name, backend, wrong);
  }

  Status Report(Outcome outcome, const std::string& name, const Backend& backend,
                const std::string& detail) {
    constexpr const char* kWords[] = {"PASS", "FAIL", "SKIP"};
    const auto index = static_cast<size_t>(outcome);
    ++counts_[index];
    return WriteStandardOutput(fmt::format("{} {} {}{}{}\n", kWords[index], name, backend.name,
                                           detail.empty() ? "" : " ", detail));
  }

  const CaseOptions& options_;
  std::vector<const Backend*> backends_;
  int counts_[3] = {};
};

// One case that is too large for this machine is no reason to leave the others.
Status CheckFile(Checker& checker, const std::string& path) {
  try {
    return checker.CheckFile(path);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "out of memory");
  }
}

}  // namespace

int RunCheck(const CaseOptions& options) {
  Checker checker(options);
  if (const Status status = checker.ChooseBackends(); !status.ok()) {
    return Complain(status.message());
  }
  bool unreadable = false;
  for (const std::string& path : options.files) {
    if (const Status status = CheckFile(checker, path); !status.ok()) {
      Complain(path + ": " + status.message());
      unreadable = true;
    }
  }
  return checker.Finish(unreadable);
}

}  // namespace attn::cli
