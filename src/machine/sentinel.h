// SPDX-License-Identifier: Apache-2.0
#pragma once
// The noise sentinel: a short fixed workload on every CPU that tench may use, timed before and
// after every run of a study. A reading above the usual shows other load or a lower clock. One half
// computes in registers, the other streams through memory; each takes a few milliseconds.
// stats/noise.h interprets the readings.
//
// Thread safety: one thread calls; the work itself runs on one pinned thread per CPU.

#include <cstdint>
#include <vector>

#include "record/sentinel_reading.h"

namespace tench {

class Sentinel {
 public:
  explicit Sentinel(std::vector<int> cpus);

  // Times the work from the common start to the end of the last thread, so that a busy CPU shows.
  SentinelReading Read();

 private:
  std::vector<int> cpus_;
  std::vector<uint64_t> memory_;  // exceeds most caches; partitioned among the threads
  uint64_t sink_ = 1;             // prevents dead-code elimination
};

}  // namespace tench
