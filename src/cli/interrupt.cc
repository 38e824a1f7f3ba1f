// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace tench {
namespace {

// Signal handlers can access only static state.
constinit StopSource source;

void Receive(int signal) {
  if (!source.RequestStop()) _exit(128 + signal);
}

void Install(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  source.Reset();
  Install(Receive);
  ::signal(SIGPIPE, SIG_IGN);
}

Interrupt::~Interrupt() { Install(SIG_DFL); }

StopToken Interrupt::stop() const { return source.token(); }

}  // namespace tench
