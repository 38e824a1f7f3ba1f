// SPDX-License-Identifier: Apache-2.0
#include "worker/stop_signal.h"

#include <unistd.h>

namespace tench {
namespace {

volatile std::sig_atomic_t listening = 0;
volatile std::sig_atomic_t stop_asked = 0;

void OnTerminate(int) {
  if (listening == 0 || stop_asked != 0) _exit(kStoppedExitCode);
  stop_asked = 1;
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

StopRequest::StopRequest() { listening = 1; }
StopRequest::~StopRequest() { listening = 0; }
const volatile std::sig_atomic_t* StopRequest::flag() const { return &stop_asked; }

}  // namespace tench
