// SPDX-License-Identifier: Apache-2.0
#pragma once
// A progress line that is rewritten in place on a terminal and cut to its width. Without a terminal
// Show is silent, and only the lines of Print appear. All output goes to stderr, so that stdout
// holds results alone. Thread safety: none; one LiveLine at a time.

#include <string>
#include <string_view>

namespace tench {

class LiveLine {
 public:
  LiveLine();
  ~LiveLine() { Clear(); }

  bool terminal() const { return terminal_; }
  void Show(std::string_view text);   // replaces the line; ignored without a terminal
  void Print(std::string_view text);  // prints a permanent line
  void Clear();

 private:
  bool terminal_ = false;
  bool shown_ = false;
};

// "[#######-------------] "
std::string ProgressBar(double fraction, int width);

// "[#######-------------] 3/8 TEXT": `done` of `total` parts.
std::string CountedProgress(size_t done, size_t total, std::string_view text);

}  // namespace tench
