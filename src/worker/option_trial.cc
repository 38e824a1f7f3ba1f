// SPDX-License-Identifier: Apache-2.0
#include "worker/option_trial.h"

#include <algorithm>

namespace tench {

OptionTrial::OptionTrial(const TrialLimits& limits, Clock& clock)
    : limits_(limits), clock_(clock), began_ns_(clock.Now()) {
  Check(limits.min_steps >= 1 && limits.max_steps >= limits.min_steps,
        "a trial without timed steps");
}

Result<bool> OptionTrial::Try(std::string candidate, const Step& step) {
  for (int i = 0; i < limits_.warmup_steps; ++i) TENCH_TRY(step());
  int64_t fastest_ns = std::numeric_limits<int64_t>::max(), spent_ns = 0;
  for (int i = 0; i < limits_.max_steps; ++i) {
    if (i >= limits_.min_steps && spent_ns >= limits_.candidate_ns) break;
    const int64_t start_ns = clock_.Now();
    TENCH_TRY(step());
    const int64_t step_ns = clock_.Now() - start_ns;
    fastest_ns = std::min(fastest_ns, step_ns);
    spent_ns += step_ns;
  }
  times_.push_back({std::move(candidate), fastest_ns});
  if (fastest_ns >= best_ns_) return false;
  best_ns_ = fastest_ns;
  return true;
}

bool OptionTrial::OutOfTime() { return clock_.Now() - began_ns_ > limits_.total_ns; }

}  // namespace tench
