// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides when a run has measured enough. It sees only step times, so that literal vectors test it:
// at least `min_steps` and `min_time_ns`, then until the 95 % interval of the median is within
// `relative_interval`; or the time limit, which says `unconverged`. Steps that drift (the medians
// of the first and second half differ by more than twice that) are not settled, whatever the
// interval. With fixed steps it only counts. Add is amortised cheap: the interval is looked at
// again only after the sample grew by a tenth.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/budget.h"

namespace tench {

class StopRule {
 public:
  explicit StopRule(const Budget& budget);  // epochs already turned into fixed_steps

  void Add(int64_t step_ns);
  bool Finished() const { return finished_; }
  bool Converged() const { return converged_; }  // always true for fixed steps
  const std::vector<int64_t>& steps() const { return steps_; }

 private:
  bool IntervalIsGood();
  bool Drifts() const;

  Budget budget_;
  std::vector<int64_t> steps_;
  std::vector<int64_t> sorted_;
  int64_t total_ns_ = 0;
  size_t next_look_ = 0;
  bool finished_ = false;
  bool converged_ = false;
};

}  // namespace tench
