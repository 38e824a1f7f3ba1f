// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tail of a worker's output. A framework may print a gigabyte: all of it is read, and a bounded
// tail is kept. Not aware of the content.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/file.h"

namespace tench {

class LogTail {
 public:
  static constexpr size_t kKeptBytes = 64 << 10;

  void Append(std::string_view bytes);
  // Reads the available bytes, at most about `budget_bytes`, so that a flood of output cannot
  // starve the caller. Closes the descriptor at end of file. The descriptor must be non-blocking.
  void Drain(Fd& fd, size_t budget_bytes);

  // At most kKeptBytes. Begins at the start of a line if bytes were dropped.
  std::string Text() const;
  // The last line that is not blank, with control characters escaped; "" if there is none.
  std::string LastLine() const;

 private:
  std::string bytes_;  // up to twice kKeptBytes, so that dropping is rare
  bool dropped_ = false;
};

}  // namespace tench
