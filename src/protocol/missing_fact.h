// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fact in a description with which a worker reports a missing prerequisite. Its text says how
// to install it. `tench doctor` shows the text, and tests that need the prerequisite are skipped.

namespace tench {

inline constexpr const char* kMissingFact = "missing";

}  // namespace tench
