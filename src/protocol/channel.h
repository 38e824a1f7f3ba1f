// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads lines from a file descriptor with a deadline on every read, so that a peer cannot block the
// reader. Accepts arbitrary bytes; a line that is too long or lacks its newline is reported as
// such. Owns the descriptor. Not aware of the meaning of the lines.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/file.h"
#include "protocol/message.h"

namespace tench {

struct ChannelRead {
  enum class Kind {
    kLine,      // `text` without its newline
    kNothing,   // the deadline passed
    kHalfLine,  // the stream ended inside a line: `text` is the partial line
    kTooLong,   // `text` is the start of the line; the channel is closed
    kEnd,
  };
  Kind kind = Kind::kNothing;
  std::string text;
};

class Channel {
 public:
  explicit Channel(Fd fd, size_t max_line_bytes = kMaxLineBytes);

  // The next line; waits until `deadline_ns` (on the clock of NowNs), 0 = does not wait. A read
  // error ends the stream.
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
  size_t start_ = 0;     // start of the next line
  size_t searched_ = 0;  // there is no newline in [start_, searched_)
};

}  // namespace tench
