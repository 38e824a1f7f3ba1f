// SPDX-License-Identifier: Apache-2.0
#include "run/session/log_tail.h"

#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace tench {

void LogTail::Append(std::string_view bytes) {
  bytes_.append(bytes);
  if (bytes_.size() <= 2 * kKeptBytes) return;
  bytes_.erase(0, bytes_.size() - kKeptBytes);
  dropped_ = true;
}

void LogTail::Drain(Fd& fd, size_t budget_bytes) {
  char buffer[64 << 10];
  for (size_t total = 0; fd.valid() && total < budget_bytes;) {
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got > 0) {
      Append({buffer, static_cast<size_t>(got)});
      total += static_cast<size_t>(got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      fd.Close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

std::string LogTail::Text() const {
  if (bytes_.size() <= kKeptBytes && !dropped_) return bytes_;
  const size_t start = bytes_.size() > kKeptBytes ? bytes_.size() - kKeptBytes : 0;
  const size_t newline = bytes_.find('\n', start);
  return newline == std::string::npos || newline + 1 == bytes_.size() ? bytes_.substr(start)
                                                                      : bytes_.substr(newline + 1);
}

std::string LogTail::LastLine() const {
  const std::string_view text = Trim(bytes_);
  const size_t newline = text.find_last_of("\r\n");
  return Printable(Trim(newline == std::string_view::npos ? text : text.substr(newline + 1)));
}

}  // namespace tench
