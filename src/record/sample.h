// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sample of the processes of a run: memory, CPU time, faults, switches. A passive struct:
// machine/sampler takes samples, record/sample_series keeps them, reports draw them.

#include <cstdint>

namespace tench {

// Sums over all members. Counters run from each process' start.
struct Sample {
  int64_t time_ns = 0;                 // as the caller gave it
  int64_t processes = 0, threads = 0;  // 0 processes: the whole tree is gone
  int64_t rss_bytes = 0, swap_bytes = 0;
  int64_t hwm_bytes = 0;  // the kernel's high-water mark of the root alone, since it was last reset
  int64_t cpu_ns = 0;  // with children that were waited for; its grain is the kernel's tick, 10 ms
  int64_t minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;  // of threads alive now
  // Of the run's GPU, as the driver says; -1: not known. The caller puts them in.
  int64_t gpu_use_percent = -1, gpu_memory_bytes = -1;

  bool operator==(const Sample&) const = default;
};

}  // namespace tench
