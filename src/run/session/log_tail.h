// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last part of a worker's output. A framework may print a gigabyte: all of it is read, and a
// bounded tail is kept. Not aware of what is printed.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/file.h"

namespace tench {

class LogTail {
 public:
  static constexpr size_t kKeptBytes = 64 << 10;

  void Append(std::string_view bytes);
  // Reads what the descriptor has now, at most about `budget_bytes`, so that a flood does not keep
  // the caller from its other duties. Closes it at its end. It must not block.
  void Drain(Fd& fd, size_t budget_bytes);

  // At most kKeptBytes, from the start of a line when something was dropped.
  std::string Text() const;
  // The last line that is not blank, fit to print; "" if there is none.
  std::string LastLine() const;

 private:
  std::string bytes_;  // up to twice what is kept, so that dropping is rare
  bool dropped_ = false;
};

}  // namespace tench
