// SPDX-License-Identifier: Apache-2.0
#include "machine/system_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace tench {

std::optional<std::string> ReadSystemFile(const std::filesystem::path& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return {};
  std::string text;
  std::array<char, 8192> piece;
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::optional<int64_t> ReadSystemInteger(const std::filesystem::path& path) {
  const auto text = ReadSystemFile(path);
  if (!text) return {};
  const auto number = ParseInteger(*text);
  if (!number.ok()) return {};
  return *number;
}

std::vector<std::string> ListFolder(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tench
