// SPDX-License-Identifier: Apache-2.0
#include "worker/stop_signal.h"

#include <unistd.h>

#include <atomic>

namespace tench {
namespace {

constinit std::atomic<bool> listening = false;
constinit StopSource source;

void OnTerminate(int) {
  if (!listening.load(std::memory_order_relaxed) || !source.RequestStop()) _exit(kStoppedExitCode);
}

}  // namespace

void InstallStopSignal() {
  struct sigaction action = {};
  action.sa_handler = OnTerminate;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

StopRequest::StopRequest() { listening.store(true, std::memory_order_relaxed); }
StopRequest::~StopRequest() { listening.store(false, std::memory_order_relaxed); }
StopToken StopRequest::token() const { return source.token(); }

}  // namespace tench
