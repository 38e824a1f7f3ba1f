// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace tench {
namespace {

// A signal handler can reach nothing but a static.
volatile int received = 0;

void Receive(int signal) {
  if (received != 0) _exit(128 + signal);
  received = signal;
}

void Install(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  received = 0;
  Install(Receive);
  ::signal(SIGPIPE, SIG_IGN);
}

Interrupt::~Interrupt() { Install(SIG_DFL); }

const volatile int& Interrupt::signal() const { return received; }

}  // namespace tench
