// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run in words, for a terminal: after it, and while it goes on. Time per step and per image are
// both always shown, with what was on the clock.

#include <string>
#include <string_view>

#include "store/record.h"

namespace tench {

// Several lines, ended by a newline. `verbose` adds libraries, environment and choices.
std::string RunText(const RunRecord& record, bool verbose);

// "step  loss" rows; at most 60 of them, evenly chosen, the first and last always.
std::string LossCurveText(const RunSeries& series);

// One line while a run works.
std::string ProgressText(const Cell& cell, const std::string& stage, int64_t steps,
                         double last_step_ns, double loss, int64_t rss_bytes, int64_t elapsed_ns);

// What a flag means, where its word alone does not say enough; otherwise "".
std::string_view FlagMeaning(std::string_view flag);

// "train: gradient and update": what the clock covers in this phase.
std::string OnTheClock(const Cell& cell);

}  // namespace tench
