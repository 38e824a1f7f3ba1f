// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"

namespace tench {
namespace {

constexpr int kCountedBarWidth = 20;

size_t TerminalWidth() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// The longest prefix of at most `columns` characters that does not cut a UTF-8 sequence.
std::string_view CutToColumns(std::string_view text, size_t columns) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) == 0x80) continue;
    if (count++ == columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace

LiveLine::LiveLine(int64_t plain_interval_ns)
    : plain_interval_ns_(plain_interval_ns), last_printed_ns_(NowNs()) {
  const char* term = std::getenv("TERM");
  terminal_ = isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

void LiveLine::Show(std::string_view text) {
  if (!terminal_) {
    if (NowNs() - last_printed_ns_ >= plain_interval_ns_) Print(text);
    return;
  }
  fmt::print(stderr, "\r{}\x1b[K", CutToColumns(text, TerminalWidth() - 1));
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::Print(std::string_view text) {
  Clear();
  fmt::print(stderr, "{}\n", text);
  last_printed_ns_ = NowNs();
}

void LiveLine::Clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

std::string ProgressBar(double fraction, int width) {
  const int filled = static_cast<int>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
  return fmt::format("[{:#<{}}{:-<{}}]", "", filled, "", width - filled);
}

std::string CountedProgress(size_t done, size_t total, std::string_view text) {
  const double fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
  return fmt::format("{} {}/{} {}", ProgressBar(fraction, kCountedBarWidth), done, total, text);
}

}  // namespace tench
