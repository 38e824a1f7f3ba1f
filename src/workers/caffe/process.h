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

// Our own environment, with everything that makes Caffe use so many threads and log to stderr
// alone.
std::vector<std::pair<std::string, std::string>> ChildEnvironment(int64_t threads);

class CaffeProcess {
 public:
  static Result<CaffeProcess> Start(const std::filesystem::path& binary,
                                    std::vector<std::string> arguments,
                                    const std::filesystem::path& folder, int64_t threads);

  pid_t pid() const { return child_.pid(); }

  // The next whole line, waited for; nullopt once Caffe has closed its log. The view holds until
  // the next call.
  Result<std::optional<std::string_view>> ReadLine();
  // Reads on to the line that has `text` in it; the end of the log before it is a failure.
  Status ReadUntil(std::string_view text);
  // Reads to the end. Anything but a clean exit is a failure.
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
  size_t begin_ = 0,
         searched_ = 0;  // of buffer_: where the next line starts, up to where it holds no line end
  std::string fatal_, last_;
};

}  // namespace tench::caffe_worker
