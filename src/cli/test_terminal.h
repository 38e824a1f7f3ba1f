// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pseudo-terminal for the tests of code that behaves differently on a terminal.
//
// Ownership: owns the master side. Thread safety: none; ReplacedDescriptor changes the process's
// descriptors.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tench {

class TestTerminal {
 public:
  explicit TestTerminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(master_) + unlockpt(master_), 0);
    const winsize size = {24, columns, 0, 0};
    EXPECT_EQ(ioctl(master_, TIOCSWINSZ, &size), 0);
  }
  ~TestTerminal() { close(master_); }
  TestTerminal(const TestTerminal&) = delete;
  TestTerminal& operator=(const TestTerminal&) = delete;

  int OpenSlave() const { return open(ptsname(master_), O_RDWR | O_NOCTTY); }
  void Type(char key) const { EXPECT_EQ(write(master_, &key, 1), 1); }
  // All text until nothing arrives for kQuietMs; the first byte may take up to `wait_ms`. The
  // kernel hands the output of one write over in pieces.
  std::string Read(int wait_ms = kQuietMs) const {
    pollfd ready = {master_, POLLIN, 0};
    std::string text;
    char buffer[4096];
    while (poll(&ready, 1, text.empty() ? wait_ms : kQuietMs) > 0) {
      const ssize_t got = read(master_, buffer, sizeof buffer);
      if (got <= 0) break;
      text.append(buffer, static_cast<size_t>(got));
    }
    return text;
  }

 private:
  static constexpr int kQuietMs = 50;
  const int master_;
};

// A pseudo-terminal in the place of one of the process's descriptors, while it lives.
class ReplacedDescriptor {
 public:
  ReplacedDescriptor(int descriptor, unsigned short columns)
      : descriptor_(descriptor), saved_(dup(descriptor)), terminal_(columns) {
    const int slave = terminal_.OpenSlave();
    dup2(slave, descriptor_);
    close(slave);
  }
  ~ReplacedDescriptor() {
    dup2(saved_, descriptor_);
    close(saved_);
  }
  ReplacedDescriptor(const ReplacedDescriptor&) = delete;
  ReplacedDescriptor& operator=(const ReplacedDescriptor&) = delete;

  std::string Read() const {
    std::fflush(nullptr);
    return terminal_.Read();
  }

 private:
  const int descriptor_, saved_;
  const TestTerminal terminal_;
};

}  // namespace tench
