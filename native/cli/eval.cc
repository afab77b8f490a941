// SPDX-License-Identifier: Apache-2.0
// `attn eval`: one case in, its outputs as one JSON object out.
#include <fmt/format.h>

#include <new>

#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/operation.h"

namespace attn::cli {
namespace {

// Written in one piece after everything has been computed: an error leaves standard output empty.
std::string ToJson(const Case& c, const Backend& backend, DType dtype, const Run& run) {
  std::string text = fmt::format(
      R"({{"name": {}, "op": {}, "backend": {}, "dtype": "{}", "outputs": {{)", Json(c.name).dump(),
      Json(c.operation->name).dump(), Json(backend.name).dump(), Name(dtype));
  bool first = true;
  for (const Output& output : run.outputs) {
    text += fmt::format(R"({}"{}": )", first ? "" : ", ", output.name);
    AppendJson(output, text);
    first = false;
  }
  text += fmt::format(R"(}}, "seconds": {}}})", NumberText(run.seconds, DType::kF64));
  return text + "\n";
}

// 1: the case is fine and this program or backend cannot compute it; 2: the case is not fine.
int Failure(const std::string& path, const Status& status) {
  Complain(path + ": " + status.message());
  const StatusCode code = status.code();
  return code == StatusCode::kInvalidArgument || code == StatusCode::kOutOfMemory ? 2 : 1;
}

int Eval(const CaseOptions& options, const std::string& path) {
  const Backend* backend = nullptr;
  if (!options.backend.empty()) {
    const Result<const Backend*> found = NamedBackend(options.backend);
    if (!found.ok()) return Complain(found.status().message());
    backend = *found;
  }
  const Result<CaseFile> file = ReadCaseFile(path);
  if (!file.ok()) return Failure(path, file.status());
  const Result<Case> c = PrepareCase(*file, Purpose::kEval);
  if (!c.ok()) return Failure(path, c.status());
  const Names wanted = AvailableOutputs(*c);
  if (backend == nullptr) backend = &ChooseBackend(*c, options.dtype, wanted);
  const DType dtype = DTypeFor(*backend, options.dtype);
  const Result<Execution> execution = Execute(*c, *backend, dtype, wanted);
  if (!execution.ok()) {
    const Status& status = execution.status();
    return Failure(path, status.code() == StatusCode::kUnsupported
                             ? Unsupported(backend->name, " has ", status.message())
                             : status);
  }
  if (!execution->differs.empty()) {
    return Failure(path, Status(StatusCode::kUnsupported, execution->differs));
  }
  if (!c->idle_lists.empty()) {
    fmt::print(stderr, "note: {} {}: {} without meaning here, one run stands for every value\n",
               c->name, backend->name, Join(c->idle_lists));
  }
  const Status written = WriteStandardOutput(ToJson(*c, *backend, dtype, execution->runs.front()));
  return written.ok() ? 0 : Complain(written.message());
}

}  // namespace

int RunEval(const CaseOptions& options) {
  const std::string& path = options.files.at(0);
  try {
    return Eval(options, path);
  } catch (const std::bad_alloc&) {
    return Failure(path, Status(StatusCode::kOutOfMemory, "out of memory"));
  }
}

}  // namespace attn::cli
