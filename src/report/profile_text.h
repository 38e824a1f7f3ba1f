// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a profile as a terminal table: the time of each kernel of each layer in one step, the
// most expensive first.
// Thread safety: pure functions.

#include <span>
#include <string>

#include "record/profile_row.h"

namespace tench {

// Ends with a newline. Rows below a thousandth of the total are summed in the last row.
std::string ProfileText(std::span<const ProfileRow> rows);

}  // namespace tench
