// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search over a worker's candidate settings, under a budget of wall time. A greedy coordinate
// search: the default is tried first, then each candidate in the worker's order on top of the best
// settings so far. A candidate is accepted if its shortest step is faster than the best one by more
// than a margin, because a slower default must not be replaced by noise.
//
// One trial can be misled by a change of the machine's speed, and its settings are kept for the
// whole study. So the default and the selected settings are tried once more, one right after the
// other, if the budget allows both. The default is restored unless the selected settings are faster
// by the margin in this pair, too.
//
// Not aware of workers or processes: the caller makes the trials. Pure but for the clock.
// Thread safety: none.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "axis/cell.h"
#include "base/clock.h"
#include "base/stop_token.h"
#include "store/record.h"

namespace tench {

// A later candidate must be faster by 2 %.
inline constexpr double kTuningMargin = 0.98;

// At the end, where settings were selected: the default and these settings.
inline constexpr size_t kConfirmingTrials = 2;

struct TrialPlan {
  std::string candidate;  // "default", or what it sets: "layout=channels_last"
  CellSettings settings;  // besides the cell's own
  int64_t remaining_ns = 0;
  bool is_default = false;
};

struct TrialEnd {
  Outcome outcome = Outcome::kOk;
  std::string reason;
  std::optional<double> step_ns;              // the shortest timed step
  std::map<std::string, std::string> frozen;  // options that repeat the build without its search
};

using RunTrial = std::function<TrialEnd(const TrialPlan&)>;

// Settings, trials, times and budget of the result are set; the rest is the caller's. A candidate
// that sets something the cell sets itself, or that changes nothing, is left out. A candidate is
// not started if the budget has less left than the default's trial took, nor the
// confirmation if it has less left than twice that time. The default's trial may exceed the budget:
// then nothing else is tried.
TuningRecord SearchSettings(const Cell& cell, std::span<const CellSettings> candidates,
                            int64_t budget_ns, const RunTrial& make, Clock& clock, StopToken stop);

}  // namespace tench
