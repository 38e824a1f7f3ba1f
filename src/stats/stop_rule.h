// SPDX-License-Identifier: Apache-2.0
#pragma once
// The stop criterion of a run. Input: step times only, so that literal vectors test it. A run
// measures at least `min_steps` and `min_time_ns`, then until the 95 % interval of the median is
// within `relative_interval`. At the time limit it ends as `unconverged`, but never before
// `min_steps`. With fixed steps the rule only counts.
//
// Steps that drift do not converge, whatever the interval: the medians of both halves may differ by
// twice `relative_interval` at most. The interval is recomputed when the sample has grown by a
// tenth, so Add is amortised O(log n).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/budget.h"

namespace tench {

class StopRule {
 public:
  explicit StopRule(const Budget& budget);  // epochs already converted to fixed_steps

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
