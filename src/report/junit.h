// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders gates as JUnit XML, the format that CI systems (GitLab, Jenkins, Buildkite, GitHub
// actions) read as test results. One <testsuite> per gate, one <testcase> per case. A case that
// fails the gate is a <failure>, or an <error> if runs failed; any other finding is <skipped>.
// Text is escaped, and characters that XML 1.0 cannot hold are dropped.
// Thread safety: pure functions.

#include <span>
#include <string>
#include <string_view>

#include "report/gate.h"

namespace tench {

std::string RenderJunit(std::span<const Gate> gates, const FailOn& fail_on);

// Text for an attribute or an element.
std::string XmlText(std::string_view text);

}  // namespace tench
