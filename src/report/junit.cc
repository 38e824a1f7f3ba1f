// SPDX-License-Identifier: Apache-2.0
#include "report/junit.h"

#include <algorithm>

#include "base/text.h"
#include "report/escape_markup.h"

namespace tench {
namespace {

struct CaseCounts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

CaseCounts CaseCountsOf(const Gate& gate, const FailOn& fail_on) {
  CaseCounts counts;
  for (const GateCase& one : gate.cases) {
    ++counts.tests;
    if (!one.finding) continue;
    if (!one.Fails(fail_on)) {
      ++counts.skipped;
    } else if (*one.finding == GateFinding::kFailed) {
      ++counts.errors;
    } else {
      ++counts.failures;
    }
  }
  return counts;
}

std::string CaseCountsText(const CaseCounts& counts) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", counts.tests,
                     counts.failures, counts.errors, counts.skipped);
}

std::string CaseText(const GateCase& one, const FailOn& fail_on) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\"", XmlText(one.group),
                                XmlText(one.title));
  if (!one.finding) {
    if (one.detail.empty()) return out + "/>\n";
    return out + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n",
                             XmlText(one.detail));
  }
  const std::string message = fmt::format("{}: {}", Name(*one.finding), one.detail);
  if (!one.Fails(fail_on)) {
    out += fmt::format(">\n      <skipped message=\"{}\"/>\n", XmlText(message));
  } else {
    const char* element = *one.finding == GateFinding::kFailed ? "error" : "failure";
    out += fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{2}</{0}>\n", element,
                       Name(*one.finding), XmlText(message));
  }
  return out + "    </testcase>\n";
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    // XML 1.0 has no control characters, not even escaped ones.
    if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') kept += c;
  }
  return EscapeMarkup(kept);
}

std::string RenderJunit(std::span<const Gate> gates, const FailOn& fail_on) {
  CaseCounts all;
  std::string suites;
  for (const Gate& gate : gates) {
    const CaseCounts counts = CaseCountsOf(gate, fail_on);
    all.tests += counts.tests, all.failures += counts.failures;
    all.errors += counts.errors, all.skipped += counts.skipped;
    suites +=
        fmt::format("  <testsuite name=\"{}\" {}>\n", XmlText(gate.name), CaseCountsText(counts));
    for (const GateCase& one : gate.cases) suites += CaseText(one, fail_on);
    if (!gate.notes.empty())
      suites += fmt::format("    <system-out>{}</system-out>\n", XmlText(Join(gate.notes, "\n")));
    suites += "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tench\" "
      "{}>\n{}</testsuites>\n",
      CaseCountsText(all), suites);
}

}  // namespace tench
