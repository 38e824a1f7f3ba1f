// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory limit of a run, and the evidence that a SIGKILL was the kernel's OOM killer. Input:
// samples; not aware of processes.

#include <cstdint>
#include <optional>
#include <string>

#include "machine/sampler.h"
#include "plan/suite.h"

namespace tench {

// Less swap than this is unused start-up code, and no sign that the worker swaps.
inline constexpr int64_t kSwapNoiseBytes = 1 << 20;

// The memory of the machine (or of its cgroup) less a reserve for the system, for tench and for
// growth between two samples.
int64_t MemoryLimitBytes(int64_t machine_bytes);

// The number of OOM kills since boot on this machine and in this process's cgroup.
int64_t OomKills();

class MemoryWatch {
 public:
  // `limit_bytes` applies to resident set + swap; 0 = unlimited.
  MemoryWatch(int64_t limit_bytes, SwapPolicy swap, int64_t oom_kills_before);

  // The reason to end the run now, if there is one.
  std::optional<std::string> Judge(const Sample& sample);
  // For a worker that died of a SIGKILL not sent by tench: the evidence for the OOM killer, if
  // there is any.
  std::optional<std::string> ExplainKill(int64_t oom_kills_now) const;

  bool swapped() const { return peak_swap_bytes_ > kSwapNoiseBytes; }
  int64_t limit_bytes() const { return limit_bytes_; }

 private:
  int64_t limit_bytes_;
  SwapPolicy swap_;
  int64_t oom_kills_before_;
  int64_t last_bytes_ = 0;
  int64_t peak_swap_bytes_ = 0;
};

}  // namespace tench
