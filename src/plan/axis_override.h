// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces the values of axes in a suite, as `tench sweep --set AXIS=VALUE` does: so a published
// study runs with other data, or a smaller part of it. Pure.

#include <span>
#include <string>

#include "plan/suite.h"

namespace tench {

// Each text is "AXIS=VALUE", "option.NAME=VALUE" or "env.NAME=VALUE". Several values of one axis
// are several texts. Every block has these values instead of its own; so does every entry of
// `include` that names the axis.
Status OverrideAxes(std::span<const std::string> texts, Suite& suite);

}  // namespace tench
