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

// Below this, a few pages of start-up code that nobody uses again: no sign of a machine that swaps.
inline constexpr int64_t kSwapNoiseBytes = 1 << 20;

// What is left of the machine (or of its cgroup) when the system, tench and a moment's growth
// between two samples have had their share.
int64_t MemoryLimitBytes(int64_t machine_bytes);

// How often the kernel has killed for lack of memory, on this machine and in this process' cgroup,
// since they began.
int64_t OomKills();

class MemoryWatch {
 public:
  // `limit_bytes`: of resident set + swap; 0 = no limit is known.
  MemoryWatch(int64_t limit_bytes, SwapPolicy swap, int64_t oom_kills_before);

  // The reason to end the run now.
  std::optional<std::string> Judge(const Sample& sample);
  // Of a worker that died of a SIGKILL which we did not send: why it was the kernel for lack of
  // memory, if it was.
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
