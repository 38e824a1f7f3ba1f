// SPDX-License-Identifier: Apache-2.0
#include "base/process_map.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tench {
namespace {

bool IsSharedObject(std::string_view file) {
  return file.ends_with(".so") || file.find(".so.") != std::string_view::npos;
}

// The C and C++ runtime, and the libraries of tench itself.
bool IsEverywhere(std::string_view file) {
  constexpr std::array<std::string_view, 14> kStems = {
      "libc.so",  "libc-",  "ld-",      "ld64.so", "libm.so",      "libm-",    "libpthread",
      "libdl.so", "libdl-", "librt.so", "librt-",  "libstdc++.so", "libgcc_s", "libfmt"};
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](std::string_view stem) { return file.starts_with(stem); });
}

}  // namespace

std::string_view WithoutDeletedMark(std::string_view path) {
  constexpr std::string_view kMark = " (deleted)";
  if (path.ends_with(kMark)) path.remove_suffix(kMark.size());
  return path;
}

std::vector<std::string> LibrariesIn(std::string_view maps) {
  std::vector<std::string> libraries;
  for (const std::string& line : Split(maps, '\n')) {
    const size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path(WithoutDeletedMark(std::string_view(line).substr(slash)));
    const std::string file = path.substr(path.rfind('/') + 1);
    if (!IsSharedObject(file) || IsEverywhere(file)) continue;
    if (std::find(libraries.begin(), libraries.end(), path) == libraries.end())
      libraries.push_back(path);
  }
  return libraries;
}

}  // namespace tench
