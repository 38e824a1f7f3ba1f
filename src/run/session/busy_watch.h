// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells whether the machine was busy during a single run, which has no study to be compared with.
// It reads the CPU time of the whole machine and the noise sentinel before and after the run.
// Studies judge their runs by stats/noise.h instead.
//
// Thread safety: one thread calls; a reading occupies every CPU for some ten milliseconds.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/cpu_use.h"
#include "machine/sentinel.h"
#include "store/record.h"

namespace tench {

struct BusyEvidence {
  double cpus = 0;                     // that tench may use
  std::optional<double> other_cpus;    // mean number of CPUs that other processes used
  std::optional<double> steal_share;   // of the CPUs' time
  double sentinel_ratio = 1;           // the slowest reading over the fastest
  int64_t threads = 0;                 // of the worker
  std::optional<double> cpu_per_wall;  // over its timed steps
};

// One sentence for each sign of a busy machine; none on a quiet one. Pure.
std::vector<std::string> BusyWarnings(const BusyEvidence& evidence);

class BusyWatch {
 public:
  BusyWatch();  // takes the readings before the run
  // Takes the readings after the run, stores the sentinel's in the record and returns warnings.
  // Runs of less than 0.4 s of timed steps are too short to be judged.
  std::vector<std::string> Finish(RunRecord& record);

 private:
  SentinelReading ReadSentinel();

  std::vector<int> cpus_;
  Sentinel sentinel_;
  std::vector<SentinelReading> readings_;
  SentinelReading before_;
  std::optional<CpuUse> use_;
  int64_t own_ns_ = 0, begin_ns_ = 0;
};

}  // namespace tench
