// SPDX-License-Identifier: Apache-2.0
#pragma once
// A progress line that is rewritten in place on a terminal and cut to its width. Without a
// terminal, Show prints a plain line only if nothing was printed for half a minute, so that a log
// shows life. All output goes to stderr, so that stdout holds results alone. Thread safety: none;
// one LiveLine at a time.

#include <cstdint>
#include <string>
#include <string_view>

namespace tench {

class LiveLine {
 public:
  explicit LiveLine(int64_t plain_interval_ns = 30'000'000'000);
  ~LiveLine() { Clear(); }

  bool terminal() const { return terminal_; }
  void Show(std::string_view text);   // replaces the line
  void Print(std::string_view text);  // prints a permanent line
  void Clear();

 private:
  int64_t plain_interval_ns_, last_printed_ns_;  // without a terminal
  bool terminal_ = false;
  bool shown_ = false;
};

// "[#######-------------] "
std::string ProgressBar(double fraction, int width);

// "[#######-------------] 3/8 TEXT": `done` of `total` parts.
std::string CountedProgress(size_t done, size_t total, std::string_view text);

}  // namespace tench
