// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a ranking as JSON: {"studies": […], "rows": [{…}, …]}, one flat object per cell with
// all axes and numbers. Units are part of the names; missing values are null. csv.h writes the
// same rows.
// Thread safety: pure functions.

#include <string>

#include "base/json.h"
#include "report/summary.h"

namespace tench {

Json RowToJson(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// Ends with a newline. Rendered row by row, so that a large store needs no large tree in memory.
std::string RenderJson(const Ranking& ranking);

}  // namespace tench
