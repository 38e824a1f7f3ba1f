// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parser of a process's memory map, the text of /proc/PID/maps. Pure: it reads no file.

#include <string>
#include <string_view>
#include <vector>

namespace tench {

// The shared objects, each once, in order. Excludes the C and C++ runtime, which every process has.
std::vector<std::string> LibrariesIn(std::string_view maps);

// The path without the kernel's mark " (deleted)" of a file that was replaced or removed after it
// was opened.
std::string_view WithoutDeletedMark(std::string_view path);

}  // namespace tench
