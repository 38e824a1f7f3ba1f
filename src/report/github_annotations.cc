// SPDX-License-Identifier: Apache-2.0
#include "report/github_annotations.h"

#include "base/text.h"

namespace tench {
namespace {

constexpr int64_t kMostPerLevel = 9;  // one more states the number that is left out

// A message escapes '%' and line ends; a property also its own separators.
std::string EscapeCommand(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','))) {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string AnnotationLine(const char* level, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", level, EscapeCommand(title, true),
                     EscapeCommand(message, false));
}

}  // namespace

std::string RenderAnnotations(std::span<const Gate> gates, const FailOn& fail_on) {
  std::string out;
  for (const bool failing : {true, false}) {
    const char* level = failing ? "error" : "warning";
    int64_t count = 0;
    for (const Gate& gate : gates) {
      for (const GateCase& one : gate.cases) {
        if (!one.finding || one.Fails(fail_on) != failing || ++count > kMostPerLevel) continue;
        out += AnnotationLine(level, fmt::format("tench: {}", Name(*one.finding)),
                              one.detail.empty() ? one.title : one.title + ": " + one.detail);
      }
    }
    if (count > kMostPerLevel) {
      out += AnnotationLine(
          level, "tench", fmt::format("and {} more; the job's log has all", count - kMostPerLevel));
    }
  }
  return out + AnnotationLine("notice", "tench", GateLine(gates, fail_on));
}

}  // namespace tench
