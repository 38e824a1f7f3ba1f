// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a run measures: a fixed number of steps (or epochs of the data set), or until the median
// has converged. A passive struct: suites and flags fill it, the job carries it, stats/stop_rule
// obeys it. It is not an axis and does not enter a cell's id.

#include <cstdint>
#include <string>

namespace tench {

struct Budget {
  int64_t warmup_steps = 3;
  int64_t fixed_steps = 0;  // > 0: exactly this many timed steps, no stop rule
  int64_t epochs = 0;       // > 0: floor(images / batch) * epochs timed steps, no stop rule
  int64_t min_steps = 10;
  int64_t min_time_ns = 500'000'000;
  // Converged when the 95 % interval of the median is within this share of it.
  double relative_interval = 0.01;
  // Soft limit for the timed steps: a run that reaches it before it converges ends as `unconverged`
  // after at least min_steps.
  int64_t time_limit_ns = 30'000'000'000;
  // Evaluation on a test split, as FORMAT:PATH; "" = none. It takes place before the first step,
  // after every `eval_every` steps (0 = an epoch) and after the last, off the clock.
  std::string test_data = {};
  int64_t eval_every = 0;
  // The target that ends the run (record/target.h), with fixed_steps or epochs as its limit; "" =
  // none.
  std::string until = {};
};

}  // namespace tench
