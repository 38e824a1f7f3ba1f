// SPDX-License-Identifier: Apache-2.0
#pragma once
// SIGTERM in a worker process. During the timed loop it is a request: the current step is finished
// and the measured steps are flushed. At any other time, or the second time, the process exits at
// once. The state is static because signal handlers can reach nothing else.

#include <csignal>

#include "base/stop_token.h"

namespace tench {

inline constexpr int kStoppedExitCode = 128 + SIGTERM;

// Also ignores SIGPIPE, so that a closed reader shows as a failed write.
void InstallStopSignal();

// While an object of this class exists, the first SIGTERM is a request.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  StopToken token() const;
};

}  // namespace tench
