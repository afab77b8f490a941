// SPDX-License-Identifier: Apache-2.0
// `attn serve`: the explainer on this machine, for this machine only.
#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/site.h"

namespace attn::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHost = "127.0.0.1";

void AnswerText(httplib::Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text + "\n", "text/plain; charset=utf-8");
}

// From the site's own name of the folder: with the asked "//name" a browser would leave this host.
std::string UrlPath(const std::filesystem::path& relative) {
  std::string url = "/";
  for (const unsigned char c : relative.generic_string()) {
    const bool plain = std::isalnum(c) != 0 || std::strchr("/-._~", c) != nullptr;
    url += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return url;
}

// The library would answer ranges too, but repeats the asked end in Content-Range where the file
// is shorter, and has no "bytes */SIZE" in a 416. Several ranges get the whole file, as RFC 9110
// (14.2) allows.
void AnswerBytes(const httplib::Request& request, httplib::Response& response, std::string bytes,
                 std::string_view type) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (request.ranges.size() == 1) {
    const auto [first, last] = request.ranges[0];
    const std::optional<ByteRange> range = ResolveRange(first, last, size);
    if (!range) {
      response.set_header("Content-Range", fmt::format("bytes */{}", size));
      return AnswerText(response, 416, "no byte of the file is in this range");
    }
    response.status = 206;
    response.set_header("Content-Range",
                        fmt::format("bytes {}-{}/{}", range->begin, range->end - 1, size));
    bytes = bytes.substr(static_cast<size_t>(range->begin),
                         static_cast<size_t>(range->end - range->begin));
  }
  // The library says so in answers to HEAD only.
  if (request.method == "GET") response.set_header("Accept-Ranges", "bytes");
  response.set_content(bytes, std::string(type));
}

void Answer(const Site& site, const httplib::Request& request, httplib::Response& response) {
  const Site::Found found = site.Find(request.path);
  if (found.kind == Site::Kind::kFolder) {
    // Relative links of its page need the slash.
    return response.set_redirect(UrlPath(found.file.lexically_relative(site.root())) + "/", 301);
  }
  std::ifstream file(found.file, std::ios::binary);
  if (found.kind == Site::Kind::kAbsent || !file) {
    return AnswerText(response, 404, "there is no such file");
  }
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  AnswerBytes(request, response, std::move(bytes), MimeType(found.file));
}

using Handled = httplib::Server::HandlerResponse;

Handled RefuseEarly(const httplib::Request& request, httplib::Response& response) {
  const std::string length = request.get_header_value("Content-Length");
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const bool read = request.method == "GET" || request.method == "HEAD";
  // 18 digits fit 64 bits.
  if (request.has_header("Content-Length") &&
      (length.empty() || length.size() > 18 || !std::ranges::all_of(length, digit))) {
    AnswerText(response, 400, "Content-Length is not a number of bytes");
  } else if (!read) {
    response.set_header("Allow", "GET, HEAD");
    AnswerText(response, 405, request.method + " is not allowed");
  } else {
    return Handled::Unhandled;
  }
  // The body, if there is one, stays unread: what comes next is no request.
  const_cast<httplib::Request&>(request).headers.erase("Connection");
  const_cast<httplib::Request&>(request).headers.emplace("Connection", "close");
  return Handled::Handled;
}

void SetUp(httplib::Server& server, const Site& site) {
  server.set_default_headers({
      // A sandboxed iframe has no origin of its own, and module scripts always ask for CORS.
      {"Access-Control-Allow-Origin", "*"},
      // A page that was built again is seen on reload.
      {"Cache-Control", "no-cache"},
      {"X-Content-Type-Options", "nosniff"},
  });
  server.Get(".*", [&site](const httplib::Request& request, httplib::Response& response) {
    Answer(site, request, response);
    // Else the library would cut the cut bytes once more, and compress them: a range counts the
    // bytes of the file, and nothing is gained on the way to this same machine.
    auto& answered = const_cast<httplib::Request&>(request);
    answered.ranges.clear();
    answered.headers.erase("Accept-Encoding");
  });
  // Before the body: the library would wait for the end of one that has no length.
  server.set_pre_routing_handler(RefuseEarly);
  // Of a Range header that it cannot read the library says 416 and nothing else.
  server.set_error_handler([&site](const httplib::Request& request, httplib::Response& response) {
    if (response.status != 416 || response.has_header("Content-Range")) return;
    const Site::Found found = site.Find(request.path);
    std::error_code error;
    const auto size = found.kind == Site::Kind::kFile ? fs::file_size(found.file, error) : 0;
    if (found.kind == Site::Kind::kFile && !error) {
      response.set_header("Content-Range", fmt::format("bytes */{}", size));
    }
    const_cast<httplib::Request&>(request).ranges.clear();
    AnswerText(response, 416, "this range cannot be read");
  });
  // The library's own choice is SO_REUSEPORT: a second server would start on the same port without
  // a word and get some of the requests.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // An idle connection holds a thread, and holds up the end of the program.
  server.set_keep_alive_timeout(1);
}

}  // namespace

int RunServe(const ServeOptions& options) {
  const Result<Site> site = Site::Open(options.root);
  if (!site.ok()) return Complain("serve: " + site.status().message());

  // Blocked before any thread exists: only sigwait sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  httplib::Server server;
  SetUp(server, *site);
  errno = 0;
  const int port = options.port == 0                          ? server.bind_to_any_port(kHost)
                   : server.bind_to_port(kHost, options.port) ? options.port
                                                              : -1;
  if (port < 0) {
    const bool used = errno == EADDRINUSE || errno == 0;
    return Complain(fmt::format("serve: port {} {}; --port names another one", options.port,
                                used ? "is in use" : std::strerror(errno)));
  }
  std::atomic<bool> ended = false;
  std::thread listener([&] {
    server.listen_after_bind();
    ended = true;
  });
  const Status written = WriteStandardOutput(fmt::format("explainer: http://localhost:{}\n", port));
  if (written.ok()) {
    int caught = 0;
    sigwait(&signals, &caught);
  }
  // stop() before the loop has begun would be lost.
  while (!server.is_running() && !ended) std::this_thread::yield();
  server.stop();
  listener.join();
  return written.ok() ? 0 : Complain(written.message());
}

}  // namespace attn::cli
