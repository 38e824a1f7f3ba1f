// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/output_terminal.h"

namespace tench {
namespace {

TEST(ProgressBarTest, FillsInProportionAndStaysInBounds) {
  EXPECT_EQ(ProgressBar(0, 4), "[----]");
  EXPECT_EQ(ProgressBar(0.5, 4), "[##--]");
  EXPECT_EQ(ProgressBar(1, 4), "[####]");
  EXPECT_EQ(ProgressBar(-1, 4), "[----]");
  EXPECT_EQ(ProgressBar(7, 4), "[####]");
}

TEST(LiveLineTest, AwayFromATerminalOnlyPrintedLinesAppear) {
  testing::internal::CaptureStderr();
  {
    LiveLine line;
    EXPECT_FALSE(line.terminal());
    line.Show("working");
    line.Print("done");
    line.Clear();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "done\n");
}

// A pseudo-terminal of a given width in the place of one of the process's descriptors.
class Terminal {
 public:
  Terminal(int descriptor, unsigned short columns)
      : descriptor_(descriptor), saved_(dup(descriptor)), master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(master_) + unlockpt(master_), 0);
    const int slave = open(ptsname(master_), O_RDWR | O_NOCTTY);
    const winsize size = {24, columns, 0, 0};
    EXPECT_EQ(ioctl(slave, TIOCSWINSZ, &size), 0);
    dup2(slave, descriptor_);
    close(slave);
    fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() {
    dup2(saved_, descriptor_);
    close(saved_);
    close(master_);
  }
  std::string Read() {
    std::fflush(nullptr);
    char buffer[4096];
    const ssize_t got = read(master_, buffer, sizeof buffer);
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }

 private:
  int descriptor_, saved_, master_;
};

TEST(LiveLineTest, OnATerminalTheLineIsCutToTheWidthAndRewritten) {
  setenv("TERM", "xterm", 1);
  Terminal terminal(STDERR_FILENO, 10);
  LiveLine line;
  ASSERT_TRUE(line.terminal());
  line.Show("…23456789ABC");
  EXPECT_EQ(terminal.Read(), "\r…23456789\x1b[K");
  line.Print("stays");
  EXPECT_EQ(terminal.Read(), "\r\x1b[Kstays\r\n");
  line.Clear();
  EXPECT_EQ(terminal.Read(), "");
}

TEST(LiveLineTest, ADumbTerminalIsNone) {
  setenv("TERM", "dumb", 1);
  Terminal terminal(STDERR_FILENO, 10);
  EXPECT_FALSE(LiveLine().terminal());
}

TEST(OutputWidthTest, IsTheTerminalsOrZero) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(OutputWidth(), 0u);
  testing::internal::GetCapturedStdout();
  Terminal terminal(STDOUT_FILENO, 123);
  EXPECT_EQ(OutputWidth(), 123u);
}

}  // namespace
}  // namespace tench
