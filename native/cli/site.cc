// SPDX-License-Identifier: Apache-2.0
#include "cli/site.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace attn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, std::string_view> kMimeTypes[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".webp", "image/webp"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".woff", "font/woff"},
    {".otf", "font/otf"},
    {".ttf", "font/ttf"},
    {".txt", "text/plain; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".ts", "text/plain; charset=utf-8"},
};

// The program's own folder, through any links to it.
fs::path ProgramFolder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path(error) : program.parent_path();
}

bool IsInside(const fs::path& file, const fs::path& root) {
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end();
}

}  // namespace

Result<Site> Site::Open(const std::string& root) {
  const fs::path asked = root.empty() ? ProgramFolder() / ".." / "page" : fs::path(root);
  const std::string shown = asked.lexically_normal().string();
  const char* const hint = "; `make explain` builds the page, --root names another folder";
  std::error_code error;
  Site site;
  site.root_ = fs::canonical(asked, error);
  if (error || !fs::is_directory(site.root_, error)) {
    return InvalidArgument("there is no folder ", shown, hint);
  }
  if (!fs::is_regular_file(site.root_ / "index.html", error)) {
    return InvalidArgument(shown, " has no index.html", hint);
  }
  return site;
}

Site::Found Site::Find(std::string_view path) const {
  const auto forbidden = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; };
  if (path.empty() || path[0] != '/' || std::ranges::any_of(path, forbidden)) return {};
  const bool folder = path.back() == '/';
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  // Browsers resolve ".." themselves. A way out of the folder and back would tell its neighbours'
  // names.
  const fs::path asked(path);
  if (std::ranges::find(asked, "..") != asked.end()) return {};
  std::error_code error;
  fs::path file = fs::canonical(root_ / asked, error);
  if (error || !IsInside(file, root_)) return {};
  if (fs::is_directory(file, error)) {
    fs::path index = fs::canonical(file / "index.html", error);
    if (error || !IsInside(index, root_)) return {};
    if (!folder) return {Kind::kFolder, file};
    file = index;
  } else if (folder) {
    return {};
  }
  if (!fs::is_regular_file(file, error)) return {};
  return {Kind::kFile, file};
}

std::string_view MimeType(const fs::path& file) {
  const std::string extension = file.extension().string();
  const auto* row = std::ranges::find(kMimeTypes, extension, [](auto& r) { return r.first; });
  return row == std::end(kMimeTypes) ? "application/octet-stream" : row->second;
}

std::optional<ByteRange> ResolveRange(int64_t first, int64_t last, int64_t size) {
  ByteRange range;
  if (first < 0) {
    if (last <= 0) return std::nullopt;
    range = {std::max<int64_t>(size - last, 0), size};
  } else {
    range = {first, last < 0 || last >= size ? size : last + 1};
  }
  if (range.begin >= range.end) return std::nullopt;
  return range;
}

}  // namespace attn::cli
