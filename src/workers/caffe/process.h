// SPDX-License-Identifier: Apache-2.0
#pragma once
// One `caffe` process and its log, read line by line as it is written. Ownership: the destructor
// kills the process. Used by one thread.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/subprocess.h"

namespace tench::caffe_worker {

// The environment of this process, with the settings that fix Caffe's thread count and send its log
// only to stderr.
std::vector<std::pair<std::string, std::string>> ChildEnvironment(int64_t threads);

class CaffeProcess {
 public:
  static Result<CaffeProcess> Start(const std::filesystem::path& binary,
                                    std::vector<std::string> arguments,
                                    const std::filesystem::path& folder, int64_t threads);

  pid_t pid() const { return child_.pid(); }

  // Waits for the next complete line; nullopt after Caffe has closed its log. The view is valid
  // until the next call.
  Result<std::optional<std::string_view>> ReadLine();
  // Reads up to a line that contains `text`; fails if the log ends before it.
  Status ReadUntil(std::string_view text);
  // Reads to the end. Any exit other than 0 is a failure.
  Status Finish();
  // The reason of Caffe's exit: its last fatal message, or the signal. kOutOfMemory and
  // kUnsupported by the message.
  Error Failure();

 private:
  CaffeProcess(Subprocess child, Fd log) : child_(std::move(child)), log_(std::move(log)) {}
  void Note(std::string_view line);

  Subprocess child_;
  Fd log_;
  std::string buffer_;
  // Positions in buffer_: start of the next line, and end of the part without a newline.
  size_t begin_ = 0, searched_ = 0;
  std::string fatal_, last_;
};

}  // namespace tench::caffe_worker
