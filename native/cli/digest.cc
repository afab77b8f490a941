// SPDX-License-Identifier: Apache-2.0
// `attn digest`: the bits of each backend's results as one number, the portable one's beside the
// number that it has everywhere.
#include "attn/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/commands.h"
#include "cli/json_file.h"
#include "cli/output.h"

namespace attn::cli {
namespace {

struct DigestRow {
  std::string name;
  uint64_t digest;
};

Result<std::vector<DigestRow>> Digests(const std::string& backend) {
  std::vector<const Backend*> wanted;
  if (backend.empty()) {
    for (const Backend& each : Backends()) wanted.push_back(&each);
  } else {
    const Result<const Backend*> named = NamedBackend(backend);
    if (!named.ok()) return named.status();
    wanted = {*named};
  }
  std::vector<DigestRow> rows;
  for (const Backend* each : wanted) {
    const Result<uint64_t> digest = BitwiseDigest(*each);
    if (!digest.ok()) return digest.status();
    rows.push_back({each->name, *digest});
  }
  return rows;
}

bool Wrong(const DigestRow& row) {
  return row.name == PortableBackend().name && row.digest != kBitwiseDigest;
}

std::string AsTable(const std::vector<DigestRow>& rows) {
  size_t width = 0;
  for (const DigestRow& row : rows) width = std::max(width, row.name.size());
  std::string text;
  for (const DigestRow& row : rows) {
    const char* verdict = row.name != PortableBackend().name ? ""
                          : Wrong(row)                       ? "  differs from the recorded one, "
                                                             : "  as recorded";
    text += fmt::format("{:<{}}  {}{}{}\n", row.name, width, DigestText(row.digest), verdict,
                        Wrong(row) ? DigestText(kBitwiseDigest) : "");
  }
  return text;
}

std::string AsJson(const std::vector<DigestRow>& rows) {
  nlohmann::ordered_json json;
  json["recorded"] = DigestText(kBitwiseDigest);
  json["digests"] = nlohmann::ordered_json::object();
  for (const DigestRow& row : rows) json["digests"][row.name] = DigestText(row.digest);
  return json.dump(2) + "\n";
}

}  // namespace

int RunDigest(const DigestOptions& options) {
  const Result<std::vector<DigestRow>> rows = Digests(options.backend);
  if (!rows.ok()) return Complain(rows.status().message());
  const Status written = WriteStandardOutput(options.json ? AsJson(*rows) : AsTable(*rows));
  if (!written.ok()) return Complain(written.message());
  return std::any_of(rows->begin(), rows->end(), Wrong) ? 1 : 0;
}

}  // namespace attn::cli
