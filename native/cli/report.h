// SPDX-License-Identifier: Apache-2.0
// attn report: every figure of the article, published beside computed.
#ifndef ATTN_NATIVE_CLI_REPORT_H_
#define ATTN_NATIVE_CLI_REPORT_H_

#include <span>
#include <string>

#include "attn/article.h"

namespace attn::cli {

struct ReportOptions {
  bool json = false;
  std::string backend = "reference";  // runs steps 1 and 3; see `attn backends`
};

// Prints the report. Returns the exit code: 0 when every computed figure agrees, 1 when one
// differs, 2 when there is no such backend or it fails.
int RunReport(const ReportOptions& options);

// The two forms, for tests. JSON as the case files' page defines it: `published` as the article's
// list has it, `computed` in the same arrangement or null, `digits` or null.
std::string ReportJson(std::span<const Figure> figures);
std::string ReportTable(std::span<const Figure> figures);

int64_t Count(std::span<const Figure> figures, Verdict verdict);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_REPORT_H_
