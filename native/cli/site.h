// SPDX-License-Identifier: Apache-2.0
// The files of a built site, as a web server sees them. No network here.
#ifndef ATTN_NATIVE_CLI_SITE_H_
#define ATTN_NATIVE_CLI_SITE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "attn/status.h"

namespace attn::cli {

class Site {
 public:
  // `root` empty: ../page, seen from the folder of the program. Errors: no such folder, a folder
  // without index.html.
  static Result<Site> Open(const std::string& root);

  enum class Kind { kFile, kFolder, kAbsent };
  struct Found {
    Kind kind = Kind::kAbsent;
    std::filesystem::path file;  // of a folder with a final slash: its index.html, as kFile
  };

  // `path` is a decoded URL path. Never a file outside the root: neither by "..", nor by a link.
  Found Find(std::string_view path) const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;  // canonical
};

// By the name's extension. Browsers run modules only as text/javascript, and compile WebAssembly
// while it arrives only as application/wasm.
std::string_view MimeType(const std::filesystem::path& file);

// A single range of a Range header, resolved against the size; the end is exclusive.
struct ByteRange {
  int64_t begin, end;
};

// first or last < 0: absent, as in "-5" and "5-". Nothing when no byte of the file is in it.
std::optional<ByteRange> ResolveRange(int64_t first, int64_t last, int64_t size);

}  // namespace attn::cli

#endif  // ATTN_NATIVE_CLI_SITE_H_
