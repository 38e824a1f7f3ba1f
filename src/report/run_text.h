// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders one run for a terminal, after its end and while it is in progress. Time per step and
// per image are both always shown, with the phase on the clock.
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "store/record.h"

namespace tench {

// Several lines; ends with a newline. `verbose` adds libraries, environment, choices
// and the command that repeats an `ok` run; a failed run always has its command.
// `width` is that of the terminal, 0 for lines of any length.
std::string RunText(const RunRecord& record, bool verbose, size_t width = 0);

// "step  loss" rows: at most 60, evenly spaced, including the first and the last.
std::string LossCurveText(const RunSeries& series);

// One line of progress.
std::string ProgressText(const Cell& cell, const std::string& stage, int64_t steps,
                         double last_step_ns, double loss, int64_t rss_bytes, int64_t elapsed_ns);

// The explanation of a flag that its name does not convey; otherwise "".
std::string_view FlagMeaning(std::string_view flag);

// The part of a step that the clock covers: "train: gradient and update".
std::string OnTheClock(const Cell& cell);

}  // namespace tench
