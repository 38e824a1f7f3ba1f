// SPDX-License-Identifier: Apache-2.0
#pragma once
// One sample of the processes of a run: memory, CPU time, faults, switches. A passive struct:
// machine/sampler takes samples, record/sample_series keeps them, reports draw them.

#include <cstdint>

namespace tench {

// Sums over all members. Counters start with each process.
struct Sample {
  int64_t time_ns = 0;                 // set by the caller
  int64_t processes = 0, threads = 0;  // 0 processes: the whole tree has ended
  int64_t rss_bytes = 0, swap_bytes = 0;
  int64_t hwm_bytes = 0;  // the kernel's high-water mark of the root process, since its last reset
  int64_t cpu_ns = 0;     // including waited-for children; the resolution is a kernel tick, 10 ms
  int64_t minor_faults = 0, major_faults = 0;
  int64_t voluntary_switches = 0, involuntary_switches = 0;  // of live threads
  // Of the run's GPU, set by the caller; -1 = unknown.
  int64_t gpu_use_percent = -1, gpu_memory_bytes = -1;

  bool operator==(const Sample&) const = default;
};

}  // namespace tench
