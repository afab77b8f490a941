// SPDX-License-Identifier: Apache-2.0
// The command line `attn`: reads the arguments, hands them to a command, returns its exit code.
// 0 fine, 1 something that was checked failed, 2 bad usage or bad input (one line on standard
// error).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <new>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/threads.h"
#if ATTN_HAVE_BENCH
#include "bench/bench.h"
#endif

namespace attn::cli {
namespace {

int exit_code = 0;

// An unset shell variable is not the default.
CLI::Validator NamesSomething() {
  return CLI::Validator(
      [](const std::string& name) {
        return name.empty() ? std::string("\"\" names no backend") : std::string();
      },
      "");
}

void AddDType(CLI::App& command, CaseOptions& options) {
  const std::map<std::string, DType> types = {
      {"f32", DType::kF32}, {"f64", DType::kF64}, {"bf16", DType::kBF16}, {"f16", DType::kF16}};
  command
      .add_option_function<std::string>(
          "--dtype", [&options, types](const std::string& name) { options.dtype = types.at(name); },
          "Element type: f32, f64, bf16 or f16. Default: f64 for the reference, f32 for the others")
      ->check(CLI::IsMember({"f32", "f64", "bf16", "f16"}))
      ->option_text("TYPE");
}

void AddReport(CLI::App& app) {
  static ReportOptions options;
  CLI::App* command = app.add_subcommand(
      "report", "Every figure of the article: published beside computed, and whether they agree");
  command->add_flag("--json", options.json, "As JSON");
  command
      ->add_option("--backend", options.backend,
                   "What runs the attention of steps 1 and 3. Default: reference")
      ->option_text("NAME");
  command->callback([] { exit_code = RunReport(options); });
}

void AddEval(CLI::App& app) {
  static CaseOptions options;
  CLI::App* command =
      app.add_subcommand("eval", "Compute one case file; print its outputs as JSON");
  command->add_option("case", options.files, "A case file")
      ->required()
      ->expected(1)
      ->option_text("CASE.json");
  command
      ->add_option("--backend", options.backend,
                   "A name from `attn backends`. Default: the fastest that has what the case needs")
      ->option_text("NAME")
      ->check(NamesSomething());
  AddDType(*command, options);
  command->callback([] { exit_code = RunEval(options); });
}

void AddCheck(CLI::App& app) {
  static CaseOptions options;
  CLI::App* command = app.add_subcommand(
      "check", "Compute case files and compare with what they expect; a line a file and backend");
  command->add_option("case", options.files, "Case files")->required()->option_text("CASE.json...");
  command
      ->add_option("--backend", options.backend,
                   "A name from `attn backends`, or all. Default: the fastest that has what the "
                   "case needs")
      ->option_text("NAME|all")
      ->check(NamesSomething());
  AddDType(*command, options);
  command->callback([] { exit_code = RunCheck(options); });
}

void AddBackends(CLI::App& app) {
  static bool json = false;
  CLI::App* command =
      app.add_subcommand("backends", "What this machine can run, and why the rest is absent");
  command->add_flag("--json", json, "As JSON");
  command->callback([] { exit_code = RunBackends(json); });
}

void AddDigest(CLI::App& app) {
  static DigestOptions options;
  CLI::App* command = app.add_subcommand(
      "digest",
      "The bits of each backend's results as one number; portable's is the same everywhere");
  command->add_option("--backend", options.backend, "This one alone. Default: each")
      ->option_text("NAME")
      ->check(NamesSomething());
  command->add_flag("--json", options.json, "As JSON");
  command->callback([] { exit_code = RunDigest(options); });
}

// The library's own message says that "1.5" could not be converted, not to what.
std::string WholeNumber(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "\"" + text + "\" is not a whole number";
}

void AddServe(CLI::App& app) {
  static ServeOptions options;
  CLI::App* command =
      app.add_subcommand("serve", "The explainer on http://localhost, for this machine only");
  command->add_option("--port", options.port, "Port; 0 takes a free one. Default: 8080")
      ->check(WholeNumber)
      ->check(CLI::Range(0, 65535))
      ->option_text("PORT");
  command
      ->add_option("--root", options.root,
                   "Folder of the built site. Default: ../page beside the program's")
      ->option_text("DIR");
  command->callback([] { exit_code = RunServe(options); });
}

#if ATTN_HAVE_BENCH
// A row that is measured for longer is a slip of the keyboard. The lower end is bench's to check.
std::string AtMostAnHour(const std::string& text) {
  constexpr double kMost = 3600;
  double seconds = 0;
  if (!CLI::detail::lexical_cast(text, seconds) || !(seconds > kMost)) return {};
  return text + " is above 3600, the most";
}
#endif

void AddBench(CLI::App& app) {
#if ATTN_HAVE_BENCH
  static bench::BenchOptions options;
  CLI::App* command = app.add_subcommand(
      "bench", "How fast attention is here, beside what the machine can do, in one run");
  command
      ->add_option(
          "--shape", options.shapes,
          "BxHxNxD or BxHqxHkxNxD; N may be queries:keys, D width:value width; a final c: causal; "
          "of matmul BxHxM:NxK")
      ->option_text("SHAPE...");
  command
      ->add_option("--backend", options.backends,
                   "Names or their beginnings. Default: all but the reference and portable")
      ->option_text("NAME...");
  command
      ->add_option("--op", options.ops,
                   "forward, backward, rms_norm, rotary, matmul. Default: forward")
      ->option_text("OP...");
  command->add_option("--dtype", options.dtypes, "f32, f64, bf16, f16. Default: f32")
      ->option_text("TYPE...");
  command->add_option("--form", options.forms, "flash, explicit, decode. Default: flash")
      ->option_text("FORM...");
  command
      ->add_option("--threads", options.threads, "How many work on a call, each a row. Default: 1")
      ->check(WholeNumber)
      ->check(CLI::Range(int64_t{1}, kMostThreads))
      ->option_text("N...");
  command->add_option("--filter", options.filter, "Rows whose name has this regular expression")
      ->option_text("REGEX");
  command->add_option("--seconds", options.seconds, "Timed calls of one row, at least. Default: 1")
      ->check(AtMostAnHour)
      ->option_text("S");
  command->add_flag("--small-pages", options.small_pages,
                    "Tensors on pages of 4 KiB, where 2 MiB are the default");
  CLI::Option* json = command->add_flag("--json", options.json, "As JSON");
  command->add_flag("--list", options.list, "Name the rows, measure nothing")->excludes(json);
  if (kHaveThreads) options.on_threads = OnThreads;
  command->callback([] { exit_code = bench::RunBench(options); });
#else
  (void)app;
#endif
}

// The library says of a misspelt command only that one is missing.
std::string UnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return {};
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return "unknown command \"" + std::string(argv[1]) + "\", there are: " + names;
}

int Main(int argc, char** argv) {
  CLI::App app("Attention and its relatives: figures, cases, timings, and the explainer", "attn");
  app.set_version_flag("--version", ATTN_VERSION);
  app.require_subcommand(1);
  AddReport(app);
  AddEval(app);
  AddCheck(app);
  AddBackends(app);
  AddDigest(app);
  AddBench(app);
  AddServe(app);
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::Error& error) {
    if (const std::string unknown = UnknownCommand(app, argc, argv); !unknown.empty()) {
      return Complain(unknown);
    }
    return Complain(std::string(error.what()) + " (attn --help tells more)");
  } catch (const std::bad_alloc&) {
    return Complain("out of memory");
  } catch (const std::exception& error) {
    return Complain(error.what());
  }
}

}  // namespace
}  // namespace attn::cli

int main(int argc, char** argv) {
  const int code = attn::cli::Main(argc, argv);
  // What CLI11 and bench print passes through buffers; a full disk shows when they are emptied.
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  return lost && code != 2 ? attn::cli::Complain("standard output cannot be written") : code;
}
