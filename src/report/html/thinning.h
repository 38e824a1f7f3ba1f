// SPDX-License-Identifier: Apache-2.0
#pragma once
// Long series to the few points that a chart can show. Losses keep points that are evenly spaced on
// a logarithmic axis, the last one, and the first ones that are negative or no number, so that what
// a reader must see is never thinned away. Pure.

#include "report/html/report_data.h"

namespace tench {

CellSeries Thinned(const RunSeries& series, const Cell& cell, const Budget& budget);

// Steps that make up one epoch; nullopt where the run does not tell. A fixed batch is the whole
// data set: each step is one pass over it.
std::optional<double> StepsPerEpoch(const Cell& cell, const Budget& budget, size_t timed_steps);

}  // namespace tench
