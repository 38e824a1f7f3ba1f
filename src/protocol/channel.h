// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines from a descriptor, with a deadline on every read: what the other side does, or leaves
// undone, can never hold the reader longer than it allowed. Any bytes may come; a line that is too
// long or that ends without a newline is reported as such, not guessed at. Owns the descriptor. Not
// aware of what the lines mean.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "protocol/message.h"

namespace tench {

struct ChannelRead {
  enum class Kind {
    kLine,      // `text` without its newline
    kNothing,   // the deadline came first
    kHalfLine,  // the end came inside a line: `text` is what there was of it
    kTooLong,   // `text` is the line's start; the channel is over
    kEnd,
  };
  Kind kind = Kind::kNothing;
  std::string text;
};

class Channel {
 public:
  explicit Channel(Fd fd, size_t max_line_bytes = kMaxLineBytes);

  // The next line, waiting until `deadline_ns` (of NowNs) at most; 0 takes only what is there
  // already. A descriptor that cannot be read is an end.
  ChannelRead Next(int64_t deadline_ns);

  int fd() const { return fd_.get(); }  // for poll; -1 after the end
  bool ended() const { return !fd_.valid(); }

 private:
  bool TakeLine(std::string& line);
  bool WaitReadable(int64_t deadline_ns);
  ChannelRead End();

  Fd fd_;
  size_t max_line_bytes_;
  std::string buffer_;
  size_t start_ = 0;     // of the first line not yet given out
  size_t searched_ = 0;  // no newline between start_ and here
};

}  // namespace tench
