// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders gates as GitHub workflow commands, one line each: `::error` for a case that fails the
// gate, `::warning` for any other finding, `::notice` with the counts. GitHub shows them at the
// job. It keeps only 10 errors and 10 warnings per step, so a last annotation states how many were
// left out.
// Thread safety: pure functions.

#include <span>
#include <string>

#include "report/gate.h"

namespace tench {

std::string RenderAnnotations(std::span<const Gate> gates, const FailOn& fail_on);

}  // namespace tench
