// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compared times of a ranking's group and the verdicts of its rows (summary.h states the
// rules). Thread safety: pure functions over one group.

#include <span>

#include "report/summary.h"

namespace tench {

// The compared time per image of a cell's rounds, with Student's t-interval over at least two.
Estimate ComparedImage(std::span<const RoundTime> times);
// The same per step, of a row with times.
Estimate ComparedStep(const RankRow& row);

// Sets the times of all measured rows by the lengths of the group's steps. `others` are cells of
// the group that a filter left out.
void SetRowTimes(RankGroup& group, std::span<const GroupStep> others);

// Compares every measured row with `best`, a ranked row of the group. Ranks must be set.
void CompareRows(const RankRow& best, RankGroup& group);

// Sets the time of every row with a verdict to the time of `best` times their ratio, so that the
// quotient of the two times shown is the ratio even if some rounds have no pair.
void SetPairedTimes(const RankRow& best, RankGroup& group);

}  // namespace tench
