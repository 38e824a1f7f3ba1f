// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a worker's answers go: one JSON line per message, written whole. When the reader is gone it
// says so; there is then nobody left to tell anything, and the worker ends quietly.

#include "base/file.h"
#include "protocol/message.h"

namespace tench {

class LineSink {
 public:
  // Owns `fd`.
  explicit LineSink(Fd fd) : fd_(std::move(fd)) {}

  Status Write(const Message& message) { return WriteLine(ToLine(message)); }
  Status WriteLine(std::string line);

  bool reader_gone() const { return reader_gone_; }

 private:
  Fd fd_;
  bool reader_gone_ = false;
};

// Takes over descriptor `fd` for answers. If it is standard output, whatever else the process
// prints there goes to standard error from now on, so that a framework's chatter cannot get between
// the lines.
Result<LineSink> OpenLineSink(int fd);

}  // namespace tench
