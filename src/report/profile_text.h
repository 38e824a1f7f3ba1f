// SPDX-License-Identifier: Apache-2.0
#pragma once
// A profile as a table for a terminal: what each kernel of each layer costs in one step, the
// dearest first.

#include <span>
#include <string>

#include "record/profile_row.h"

namespace tench {

// Ended by a newline. Rows below a thousandth of the whole are summed up in the last one.
std::string ProfileText(std::span<const ProfileRow> rows);

}  // namespace tench
