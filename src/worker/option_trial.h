// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tuned track's trial: candidates of a worker's options are timed one after another, and the
// candidate with the fastest step wins. The fastest step is the statistic because interference only
// adds time. A later candidate must be strictly faster to replace an earlier one, so the default
// candidate goes first.
//
// Not aware of frameworks or options: the caller builds a candidate and passes its step. A trial
// owns its records only. Thread safety: none; a trial belongs to one thread.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace tench {

struct TrialLimits {
  int warmup_steps = 2;                // per candidate, untimed
  int min_steps = 2;                   // minimum of timed steps
  int max_steps = 10;                  // maximum of timed steps
  int64_t candidate_ns = 300'000'000;  // time limit per candidate, after min_steps
  int64_t total_ns = std::numeric_limits<int64_t>::max();  // no candidate starts after this
};

struct TrialTime {
  std::string candidate;
  int64_t step_ns = 0;  // the fastest
};

class OptionTrial {
 public:
  using Step = std::function<Status()>;

  // `clock` must outlive the trial.
  OptionTrial(const TrialLimits& limits, Clock& clock);

  // Times `step` and returns whether the candidate is the fastest so far. An error of a step ends
  // the call and leaves no record.
  Result<bool> Try(std::string candidate, const Step& step);

  // Whether total_ns has passed since the trial began.
  bool OutOfTime();

  const std::vector<TrialTime>& times() const { return times_; }  // in the order of the calls

 private:
  const TrialLimits limits_;
  Clock& clock_;
  const int64_t began_ns_;
  int64_t best_ns_ = std::numeric_limits<int64_t>::max();
  std::vector<TrialTime> times_;
};

}  // namespace tench
