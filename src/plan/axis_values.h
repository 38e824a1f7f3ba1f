// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values that a suite gives to one axis or option: a value, a list of them, or a range such as
// {from: 1, to: 512, times: 2}, which may stand in a list, too. Ranges are written out, values are
// brought to the axis's own spelling, and a value that comes twice is kept once.

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
