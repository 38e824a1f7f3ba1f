// SPDX-License-Identifier: Apache-2.0
#include "report/serve/request_guard.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace tench {
namespace {

constexpr int kHttpPort = 80;  // the only port that a browser leaves out
constexpr std::array<std::string_view, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool IsThisPage(const std::string& host, int port) {
  const std::string lower = LowerCase(host);
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return lower == fmt::format("{}:{}", name, port) || (port == kHttpPort && lower == name);
  });
}

bool IsOwnOrigin(const std::string& origin, int port) {
  constexpr std::string_view kScheme = "http://";
  const std::string lower = LowerCase(origin);
  return lower.starts_with(kScheme) && IsThisPage(lower.substr(kScheme.size()), port);
}

}  // namespace

std::optional<Refusal> CheckRequest(const RequestHead& head, int port) {
  if (head.host.size() != 1 || !IsThisPage(head.host.front(), port))
    return Refusal{403, "the Host header does not name this page"};
  if (!std::all_of(head.origin.begin(), head.origin.end(),
                   [&](const std::string& origin) { return IsOwnOrigin(origin, port); })) {
    return Refusal{403, "another site may not read this page"};
  }
  // "none" = the user typed the address or opened a bookmark.
  if (!std::all_of(head.fetch_site.begin(), head.fetch_site.end(), [](const std::string& site) {
        return site == "same-origin" || site == "none";
      })) {
    return Refusal{403, "another site may not read this page"};
  }
  if (head.method != "GET" && head.method != "HEAD") return Refusal{405, "this page is read-only"};
  return std::nullopt;
}

}  // namespace tench
