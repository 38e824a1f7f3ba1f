// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reduces long series to the points that a chart can show. Losses keep points that are evenly
// spaced on a logarithmic axis, the last point, and the first negative or non-finite ones.
// Thread safety: pure functions.

#include "report/html/report_data.h"

namespace tench {

CellSeries Thinned(const RunSeries& series, const Cell& cell, const Budget& budget);

// Steps per epoch; nullopt if there are no epochs: with fixed input, or if the size of the data set
// is unknown.
std::optional<double> StepsPerEpoch(const Cell& cell, const Budget& budget, size_t timed_steps);

}  // namespace tench
