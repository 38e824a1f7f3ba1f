// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order of a group's rows (summary.h states the rules): which row is the fastest, the ranks and
// ratios behind it, and the losses at the rows' smallest common step.
// Thread safety: a pure function over one group.

#include <span>

#include "report/summary.h"

namespace tench {

// Ranks and sorts the rows by time per image. `others` are cells of the group that a filter left
// out; the lengths of their steps count too.
void RankRows(const Ranking& ranking, RankGroup& group, std::span<const GroupStep> others);

}  // namespace tench
