// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fact in a description by which a worker says that something of the user's is not there
// without which it can run nothing; its text says what to do. `tench doctor` shows it, and tests
// that would need that thing are skipped with it.

namespace tench {

inline constexpr const char* kMissingFact = "missing";

}  // namespace tench
