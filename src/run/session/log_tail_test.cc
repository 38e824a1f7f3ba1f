// SPDX-License-Identifier: Apache-2.0
#include "run/session/log_tail.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/subprocess.h"

namespace tench::log_tail_test {
namespace {

TEST(LogTailTest, KeepsAShortLogWhole) {
  LogTail log;
  log.Append("one\n");
  log.Append("two");
  EXPECT_EQ(log.Text(), "one\ntwo");
  EXPECT_EQ(log.LastLine(), "two");
}

TEST(LogTailTest, KeepsOnlyTheEndOfALongOneFromTheStartOfALine) {
  LogTail log;
  for (int i = 0; i < 100'000; ++i) log.Append(fmt::format("line {}\n", i));
  const std::string text = log.Text();
  EXPECT_LE(text.size(), LogTail::kKeptBytes);
  EXPECT_GT(text.size(), LogTail::kKeptBytes / 2);
  EXPECT_TRUE(text.starts_with("line "));
  EXPECT_TRUE(text.ends_with("line 99999\n"));
}

TEST(LogTailTest, KeepsTheEndOfOneEndlessLine) {
  LogTail log;
  log.Append(std::string(1 << 20, 'x'));
  EXPECT_EQ(log.Text().size(), LogTail::kKeptBytes);
}

TEST(LogTailTest, TheLastLineIsTheLastThatIsNotBlankAndPrintable) {
  LogTail log;
  EXPECT_EQ(log.LastLine(), "");
  log.Append("first\nbad \x1b[31m bytes\r\n\n  \n");
  EXPECT_EQ(log.LastLine(), "bad \\x1b[31m bytes");
}

TEST(LogTailTest, DrainsWithoutBlockingAndClosesAtTheEnd) {
  Pipe pipe = *Pipe::Make();
  LogTail log;
  log.Drain(pipe.in, 1 << 20);
  EXPECT_TRUE(pipe.in.valid());
  ASSERT_EQ(write(pipe.out.get(), "text", 4), 4);
  pipe.out.Close();
  log.Drain(pipe.in, 1 << 20);
  EXPECT_FALSE(pipe.in.valid());
  EXPECT_EQ(log.Text(), "text");
}

}  // namespace
}  // namespace tench::log_tail_test
