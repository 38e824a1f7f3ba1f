// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of the measuring rules, which define what is verified, timed and counted. Every study
// and every run has it. Results of different rules are not comparable: they never share a row, and
// a study of other rules is not resumed.
//
// A change that can affect a result increments the number and adds a line to the changelog of rules
// in docs/methodology.md; a test compares the two.

#include <cstdint>

namespace tench {

inline constexpr int64_t kRules = 4;
// Stored results without a number, from before the number existed.
inline constexpr int64_t kUnnumberedRules = 1;
// Runs that tench did not measure, such as imported logs.
inline constexpr int64_t kNoRules = 0;

}  // namespace tench
