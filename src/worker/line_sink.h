// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a worker's answers: one JSON line per message, in one piece. reader_gone() is true after
// the reader has closed its end; the worker then exits without a message. Used by one thread.

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

// Takes descriptor `fd` for answers. If it is standard output, later prints to standard output go
// to standard error, so that a framework's messages cannot corrupt the lines.
Result<LineSink> OpenLineSink(int fd);

}  // namespace tench
