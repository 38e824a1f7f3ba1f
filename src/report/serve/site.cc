// SPDX-License-Identifier: Apache-2.0
#include "report/serve/site.h"

namespace tench {
namespace {

constexpr const char* kPlain = "text/plain; charset=utf-8";

HttpAnswer Say(int status, std::string_view line) {
  return {status, kPlain, std::string(line) + "\n"};
}

HttpAnswer Content(Result<std::string> text, const char* type) {
  if (!text.ok()) return Say(500, text.error().message);
  return {200, type, *std::move(text)};
}

}  // namespace

HttpAnswer AnswerRequest(const RequestHead& head, int port, LiveReport& report) {
  if (const auto refusal = CheckRequest(head, port)) return Say(refusal->status, refusal->reason);
  if (head.path == "/") return Content(report.Page(), "text/html; charset=utf-8");
  if (head.path == "/live") return Content(report.State(), "application/json");
  if (head.path == "/summary") return Content(report.Summary(), "application/json");
  return Say(404, "there is no such page");
}

}  // namespace tench
