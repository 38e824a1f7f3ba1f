// SPDX-License-Identifier: Apache-2.0
#pragma once
// SIGTERM in a worker. While steps are made it is a request: the current step is finished and what
// was measured is flushed. At any other time, or the second time, the process ends at once. A
// process has one of these; signal handlers leave no choice but static state.

#include <csignal>

namespace tench {

inline constexpr int kStoppedExitCode = 128 + SIGTERM;

// Also ignores SIGPIPE, so that a reader that is gone shows as a failed write.
void InstallStopSignal();

// While one of these lives SIGTERM is a request.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  const volatile std::sig_atomic_t* flag() const;
};

}  // namespace tench
