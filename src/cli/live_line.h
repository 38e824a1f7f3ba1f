// SPDX-License-Identifier: Apache-2.0
#pragma once
// The line at the bottom that changes while work goes on. On a terminal it is rewritten in place,
// cut to the width; elsewhere it is silent, and only Print's lines appear. Everything goes to
// stderr, so that stdout holds results alone.

#include <string>
#include <string_view>

namespace tench {

class LiveLine {
 public:
  LiveLine();
  ~LiveLine() { Clear(); }

  bool terminal() const { return terminal_; }
  void Show(std::string_view text);   // replaces the line; ignored away from a terminal
  void Print(std::string_view text);  // a line that stays
  void Clear();

 private:
  bool terminal_ = false;
  bool shown_ = false;
};

// "[#######-------------] "
std::string ProgressBar(double fraction, int width);

}  // namespace tench
