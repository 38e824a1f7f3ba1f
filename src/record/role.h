// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's role in a ranking. Users choose among frameworks. The baseline is a reference line,
// and the oracle defines the correct result; neither is ranked among frameworks. Passive.

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

enum class Role { kFramework, kBaseline, kOracle };

// In the order of the enum; the spelling used in the protocol and in the store.
std::span<const std::string> RoleNames();

const std::string& Name(Role role);
Result<Role> ParseRole(std::string_view text);

// The role of a worker ("native", "torch@2.1") that stated none: it did not start, or its run is
// older than roles.
Role UsualRole(std::string_view worker);

}  // namespace tench
