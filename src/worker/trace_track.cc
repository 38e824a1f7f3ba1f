// SPDX-License-Identifier: Apache-2.0
#include "worker/trace_track.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

namespace tench {

std::string ThreadTrack(int64_t thread) { return fmt::format("thread {}", thread); }

std::string ThisThreadTrack() { return ThreadTrack(syscall(SYS_gettid)); }

int64_t MonotonicOfTimeOfDay(int64_t time_of_day_ns) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  return time_of_day_ns - now_ns + NowNs();
}

}  // namespace tench
