// SPDX-License-Identifier: Apache-2.0
#include "stats/stop_rule.h"

#include <algorithm>

#include "base/error.h"
#include "stats/stats.h"

namespace tench {
namespace {

// With fewer values, even the whole range covers the median with less than 95 %.
constexpr size_t kFewestSteps = 6;
// Beyond this size, growing the vector has no measurable cost.
constexpr int64_t kMostReserved = 1 << 20;

double MiddleOf(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

}  // namespace

StopRule::StopRule(const Budget& budget) : budget_(budget), converged_(budget.fixed_steps > 0) {
  Check(budget.epochs == 0 || budget.fixed_steps > 0,
        "the stop rule was given epochs instead of steps");
  next_look_ = std::max(kFewestSteps, static_cast<size_t>(std::max<int64_t>(budget.min_steps, 0)));
  steps_.reserve(static_cast<size_t>(std::clamp<int64_t>(budget.fixed_steps, 256, kMostReserved)));
}

void StopRule::Add(int64_t step_ns) {
  Check(step_ns >= 0, "a step took negative time");
  steps_.push_back(step_ns);
  total_ns_ += step_ns;
  if (finished_) return;
  if (budget_.fixed_steps > 0) {
    finished_ = static_cast<int64_t>(steps_.size()) >= budget_.fixed_steps;
    return;
  }
  const bool out_of_time = total_ns_ >= budget_.time_limit_ns &&
                           static_cast<int64_t>(steps_.size()) >= budget_.min_steps;
  const bool enough = static_cast<int64_t>(steps_.size()) >= budget_.min_steps &&
                      steps_.size() >= kFewestSteps && total_ns_ >= budget_.min_time_ns;
  if (enough && (out_of_time || steps_.size() >= next_look_)) {
    converged_ = IntervalIsGood() && !Drifts();
    next_look_ = steps_.size() + std::max<size_t>(1, steps_.size() / 10);
  }
  finished_ = converged_ || out_of_time;
}

bool StopRule::IntervalIsGood() {
  const auto known = static_cast<std::ptrdiff_t>(sorted_.size());
  sorted_.insert(sorted_.end(), steps_.begin() + known, steps_.end());
  std::sort(sorted_.begin() + known, sorted_.end());
  std::inplace_merge(sorted_.begin(), sorted_.begin() + known, sorted_.end());
  const size_t n = sorted_.size();
  const double median =
      (static_cast<double>(sorted_[(n - 1) / 2]) + static_cast<double>(sorted_[n / 2])) / 2;
  const Interval interval = MedianInterval(sorted_);
  const double allowed = budget_.relative_interval * median;
  return interval.high - median <= allowed && median - interval.low <= allowed;
}

// The interval assumes independent steps, so a machine that slows down during the run would appear
// precise. The median of each half has √2 times the error of the whole, and their difference twice
// that error: a stationary sample passes 95 times in 100.
bool StopRule::Drifts() const {
  const auto half = steps_.begin() + static_cast<std::ptrdiff_t>(steps_.size() / 2);
  const double first = MiddleOf({steps_.begin(), half});
  const double second = MiddleOf({half, steps_.end()});
  return std::max(first, second) - std::min(first, second) >
         2 * budget_.relative_interval * std::min(first, second);
}

}  // namespace tench
