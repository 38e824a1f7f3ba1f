// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of environment variables that are derived from names of workers and builds.
// Thread safety: pure.

#include <string>
#include <string_view>

namespace tench {

// Capitals; any other character than a letter or digit becomes '_': "NV_0_17" of "nv-0.17".
std::string VariableName(std::string_view text);

}  // namespace tench
