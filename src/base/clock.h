// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clocks. NowNs reads the monotonic clock that every measurement uses. UtcNow is for display and
// file names only. Clock is an interface, so that code with deadlines can be tested without
// waiting.
// Thread safety: all functions may be called from any thread.

#include <time.h>

#include <cstdint>
#include <string>

namespace tench {

inline int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// "2026-11-16T09:30:00Z"
std::string UtcNow();

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t Now() = 0;  // ns, monotonic
  virtual void SleepUntil(int64_t ns) = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t Now() override { return NowNs(); }
  void SleepUntil(int64_t ns) override;
};

}  // namespace tench
