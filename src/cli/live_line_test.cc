// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/output_terminal.h"
#include "cli/test_terminal.h"

namespace tench::live_line_test {
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

TEST(LiveLineTest, AwayFromATerminalALongSilenceEndsInAPlainLine) {
  testing::internal::CaptureStderr();
  {
    LiveLine line(/*plain_interval_ns=*/0);
    line.Show("1 of 2");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "1 of 2\n");
}

TEST(LiveLineTest, OnATerminalTheLineIsCutToTheWidthAndRewritten) {
  setenv("TERM", "xterm", 1);
  ReplacedDescriptor terminal(STDERR_FILENO, 10);
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
  ReplacedDescriptor terminal(STDERR_FILENO, 10);
  EXPECT_FALSE(LiveLine().terminal());
}

TEST(CountedProgressTest, ShowsTheShareAsABarAndAsNumbers) {
  EXPECT_EQ(CountedProgress(1, 4, "lenet"), "[#####---------------] 1/4 lenet");
  EXPECT_EQ(CountedProgress(0, 0, ""), "[####################] 0/0 ");
}

TEST(OutputWidthTest, IsTheTerminalsOrZero) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(OutputWidth(), 0u);
  testing::internal::GetCapturedStdout();
  ReplacedDescriptor terminal(STDOUT_FILENO, 123);
  EXPECT_EQ(OutputWidth(), 123u);
}

}  // namespace
}  // namespace tench::live_line_test
