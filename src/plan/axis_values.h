// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the values of one axis or option of a suite: a scalar, a list, or a range such as {from:
// 1, to: 512, times: 2}, also as a list element. Ranges are expanded, values are normalised to
// the axis's canonical spelling, and duplicates are removed.
// Thread safety: pure functions.

#include <string_view>

#include "base/error.h"
#include "plan/suite.h"
#include "plan/yaml_node.h"

namespace tench {

inline constexpr size_t kMaxAxisValues = 100'000;

// `name` is the name of an axis, or "option.NAME".
Result<AxisList> ReadAxisValues(std::string_view name, const YamlNode& node,
                                std::string_view origin);

}  // namespace tench
