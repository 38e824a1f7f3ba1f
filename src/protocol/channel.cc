// SPDX-License-Identifier: Apache-2.0
#include "protocol/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"

namespace tench {
namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kQuotedBytes = 1 << 10;  // of a line that is too long

}  // namespace

Channel::Channel(Fd fd, size_t max_line_bytes)
    : fd_(std::move(fd)), max_line_bytes_(max_line_bytes) {
  if (fd_.valid()) fcntl(fd_.get(), F_SETFL, fcntl(fd_.get(), F_GETFL) | O_NONBLOCK);
}

bool Channel::TakeLine(std::string& line) {
  const size_t newline = buffer_.find('\n', searched_);
  if (newline == std::string::npos) {
    // Consumed lines are erased once per read, not once per line.
    buffer_.erase(0, start_);
    start_ = 0;
    searched_ = buffer_.size();
    return false;
  }
  line.assign(buffer_, start_, newline - start_);
  start_ = searched_ = newline + 1;
  return true;
}

bool Channel::WaitReadable(int64_t deadline_ns) {
  for (;;) {
    const int64_t left_ns = deadline_ns - NowNs();
    if (left_ns <= 0) return false;
    pollfd poll_fd{fd_.get(), POLLIN, 0};
    const timespec left{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    const int ready = ppoll(&poll_fd, 1, &left, nullptr);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // read reports the error
  }
}

ChannelRead Channel::End() {
  fd_.Close();
  if (start_ == buffer_.size()) return {ChannelRead::Kind::kEnd, {}};
  ChannelRead half{ChannelRead::Kind::kHalfLine, buffer_.substr(start_)};
  buffer_.clear();
  start_ = searched_ = 0;
  return half;
}

ChannelRead Channel::Next(int64_t deadline_ns) {
  ChannelRead result;
  for (;;) {
    const bool found = TakeLine(result.text);
    if (found ? result.text.size() > max_line_bytes_ : buffer_.size() > max_line_bytes_) {
      result.text = (found ? result.text : buffer_).substr(0, kQuotedBytes);
      result.kind = ChannelRead::Kind::kTooLong;
      fd_.Close();
      buffer_.clear();
      start_ = searched_ = 0;
      return result;
    }
    if (found) {
      result.kind = ChannelRead::Kind::kLine;
      return result;
    }
    if (!fd_.valid()) return End();
    const size_t before = buffer_.size();
    buffer_.resize(before + kReadBytes);
    const ssize_t got = read(fd_.get(), buffer_.data() + before, kReadBytes);
    buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0 && errno == EAGAIN) {
      if (WaitReadable(deadline_ns)) continue;
      return result;
    }
    return End();
  }
}

}  // namespace tench
