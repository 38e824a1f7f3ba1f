// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ctrl-C and a polite kill, as a number that long work looks at: 0, or the signal. A second Ctrl-C
// ends tench at once (its worker dies with it). The one place where tench handles signals; made by
// a command before it starts long work, once per process.

namespace tench {

class Interrupt {
 public:
  Interrupt();   // installs handlers for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE
  ~Interrupt();  // puts the old ones back
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const volatile int& signal() const;
};

}  // namespace tench
