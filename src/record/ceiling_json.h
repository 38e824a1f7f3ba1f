// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ceiling as JSON, in results files and in the output of commands.
// Thread safety: pure functions.

#include <span>

#include "base/json.h"
#include "record/ceiling.h"

namespace tench {

Json CeilingsToJson(std::span<const Ceiling> ceilings);
Result<Ceiling> CeilingFromJson(const Json& json);

}  // namespace tench
