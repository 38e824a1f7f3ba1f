// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking for programs: {"studies": […], "rows": [{…}, …]}, one flat object per cell, all axes
// and numbers, with units in the names; what was not measured is null. csv.h writes the same rows.

#include <string>

#include "base/json.h"
#include "report/summary.h"

namespace tench {

Json RowToJson(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// Ended by a newline. Made row by row, so that a large store needs no large tree in memory.
std::string RenderJson(const Ranking& ranking);

}  // namespace tench
