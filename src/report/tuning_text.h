// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of a cell's tuning as text: for `tench run`, for a row's details and for verbose
// output. Thread safety: pure functions.

#include <string>
#include <vector>

#include "store/record.h"

namespace tench {

// "tuned in 12.3 s, 5 trials: layout=channels_last, 21 % faster than the default; pays after 1200
// steps", then a line for each trial that failed or was not made.
std::vector<std::string> TuningLines(const TuningRecord& tuning);

// "12.3 s; pays after 1200 steps", "12.3 s; the default is fastest"; "" for an untuned run.
std::string TuningCostText(const RunSummary& summary);

}  // namespace tench
