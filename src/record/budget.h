// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a run measures. Either a fixed number of steps (or epochs of the data set), or until the
// median is known well enough. A passive struct: suites and flags fill it, the job carries it,
// stats/stop_rule obeys it. It is no axis: it does not say what is measured, and does not enter a
// cell's id.

#include <cstdint>

namespace tench {

struct Budget {
  int64_t warmup_steps = 3;
  int64_t fixed_steps = 0;  // > 0: exactly so many timed steps, no stop rule
  int64_t epochs = 0;       // > 0: floor(images / batch) * epochs timed steps, no stop rule
  int64_t min_steps = 10;
  int64_t min_time_ns = 500'000'000;
  double relative_interval =
      0.01;  // stop when the 95 % interval of the median is within this of it
  int64_t time_limit_ns =
      30'000'000'000;  // of timed steps; reached before the interval is good: `unconverged`
};

}  // namespace tench
