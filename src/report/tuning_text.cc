// SPDX-License-Identifier: Apache-2.0
#include "report/tuning_text.h"

#include <algorithm>

#include "base/plural.h"
#include "base/text.h"

namespace tench {

std::vector<std::string> TuningLines(const TuningRecord& tuning) {
  const auto made = std::ranges::count_if(
      tuning.trials, [](const TuningTrial& trial) { return trial.wall_ns > 0; });
  std::string head = fmt::format("tuned in {}, {}: ", HumanNs(static_cast<double>(tuning.spent_ns)),
                                 Plural(made, "trial"));
  if (!tuning.default_step_ns) {
    head += "the default settings could not be measured";
  } else if (const auto pays = tuning.PaysAfterSteps(); tuning.settings.empty() || !pays) {
    head += "the default settings are the fastest";
  } else {
    head += fmt::format("{}, {:.0f} % less time per step than the default; pays after {}",
                        SettingsText(tuning.settings),
                        100 * (1 - *tuning.best_step_ns / *tuning.default_step_ns),
                        Plural(*pays, "step"));
  }
  std::vector<std::string> lines = {std::move(head)};
  for (const TuningTrial& trial : tuning.trials) {
    if (trial.wall_ns == 0) {
      lines.push_back(fmt::format("  {}: {}", trial.candidate, trial.reason));
    } else if (trial.outcome != Outcome::kOk) {
      lines.push_back(
          fmt::format("  {}: {}: {}", trial.candidate, Name(trial.outcome), trial.reason));
    }
  }
  return lines;
}

std::string TuningCostText(const RunSummary& summary) {
  if (!summary.tune_ns) return "";
  return HumanNs(static_cast<double>(*summary.tune_ns)) +
         (summary.tune_pays_steps
              ? fmt::format("; pays after {}", Plural(*summary.tune_pays_steps, "step"))
              : "; the default settings are the fastest");
}

}  // namespace tench
