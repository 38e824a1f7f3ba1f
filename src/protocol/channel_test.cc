// SPDX-License-Identifier: Apache-2.0
#include "protocol/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>
#include <thread>

#include "base/clock.h"

namespace tench::channel_test {
namespace {

using Kind = ChannelRead::Kind;

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    int fds[2];
    Check(pipe2(fds, O_CLOEXEC) == 0, "pipe2");
    in_ = Fd(fds[0]);
    out_ = Fd(fds[1]);
  }
  void Write(std::string_view text) {
    ASSERT_EQ(write(out_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int64_t Soon() { return NowNs() + 5'000'000'000; }

  Fd in_, out_;
};

TEST_F(ChannelTest, GivesLinesOneByOneAndThenTheEnd) {
  Channel channel(std::move(in_));
  Write("one\n\nthree\n");
  out_.Close();
  for (const char* line : {"one", "", "three"}) {
    const auto read = channel.Next(Soon());
    EXPECT_EQ(read.kind, Kind::kLine);
    EXPECT_EQ(read.text, line);
  }
  EXPECT_EQ(channel.Next(Soon()).kind, Kind::kEnd);
  EXPECT_TRUE(channel.ended());
  EXPECT_EQ(channel.Next(Soon()).kind, Kind::kEnd);
}

TEST_F(ChannelTest, JoinsALineThatComesInPieces) {
  Channel channel(std::move(in_));
  Write("hel");
  EXPECT_EQ(channel.Next(0).kind, Kind::kNothing);
  Write("lo\nnext");
  EXPECT_EQ(channel.Next(0).text, "hello");
  EXPECT_EQ(channel.Next(0).kind, Kind::kNothing);
}

TEST_F(ChannelTest, WaitsForALineThatComesLater) {
  Channel channel(std::move(in_));
  std::thread writer([this] { Write("late\n"); });
  EXPECT_EQ(channel.Next(Soon()).text, "late");
  writer.join();
}

TEST_F(ChannelTest, GivesUpAtTheDeadline) {
  Channel channel(std::move(in_));
  const int64_t deadline_ns = NowNs() + 2'000'000;
  EXPECT_EQ(channel.Next(deadline_ns).kind, Kind::kNothing);
  EXPECT_GE(NowNs(), deadline_ns);
}

TEST_F(ChannelTest, ReportsHalfALineAtTheEnd) {
  Channel channel(std::move(in_));
  Write("whole\nhal");
  out_.Close();
  EXPECT_EQ(channel.Next(Soon()).text, "whole");
  const auto half = channel.Next(Soon());
  EXPECT_EQ(half.kind, Kind::kHalfLine);
  EXPECT_EQ(half.text, "hal");
  EXPECT_EQ(channel.Next(Soon()).kind, Kind::kEnd);
}

TEST_F(ChannelTest, RefusesALineOverTheLimitWhetherItEndsOrNot) {
  Channel channel(std::move(in_), 8);
  Write("12345678\n123456789");
  EXPECT_EQ(channel.Next(Soon()).text, "12345678");
  const auto read = channel.Next(Soon());
  EXPECT_EQ(read.kind, Kind::kTooLong);
  EXPECT_EQ(read.text, "123456789");
  EXPECT_EQ(channel.Next(Soon()).kind, Kind::kEnd);
}

TEST_F(ChannelTest, RefusesATooLongLineThatArrivedWithItsNewline) {
  Channel channel(std::move(in_), 8);
  Write("1234567890\nok\n");
  EXPECT_EQ(channel.Next(Soon()).kind, Kind::kTooLong);
}

TEST_F(ChannelTest, PassesAnyBytesThrough) {
  Channel channel(std::move(in_));
  const std::string_view bytes("\0\xff\x80 x", 5);
  Write(bytes);
  Write("\n");
  EXPECT_EQ(channel.Next(Soon()).text, bytes);
}

TEST_F(ChannelTest, ReadsALargeLineWrittenInManyPieces) {
  Channel channel(std::move(in_));
  const std::string line(3 << 20, 'x');
  std::thread writer([&] {
    const std::string text = line + "\n";
    for (size_t at = 0; at < text.size();)
      at += static_cast<size_t>(write(out_.get(), text.data() + at, text.size() - at));
  });
  EXPECT_EQ(channel.Next(Soon()).text.size(), line.size());
  writer.join();
}

}  // namespace
}  // namespace tench::channel_test
