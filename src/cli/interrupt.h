// SPDX-License-Identifier: Apache-2.0
#pragma once
// SIGINT, SIGTERM and SIGHUP as a stop token that long work polls. A second signal ends tench at
// once, and its worker dies with it. This is the only place where tench handles signals.
//
// Ownership: a command constructs one before it starts long work. At most one exists at a time,
// because signal handlers are state of the process.

#include "base/stop_token.h"

namespace tench {

class Interrupt {
 public:
  Interrupt();   // Installs handlers for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE.
  ~Interrupt();  // Restores the default handlers.
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  StopToken stop() const;
};

}  // namespace tench
