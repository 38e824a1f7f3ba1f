// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads virtual files of /proc and /sys: small, of unknown length, and absent on many machines
// without that being an error.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tench {

// Without the white space at its end; nothing when it is absent or may not be read.
std::optional<std::string> ReadSystemFile(const std::filesystem::path& path);
// The whole file must be one number.
std::optional<int64_t> ReadSystemInteger(const std::filesystem::path& path);
// The names in a folder, sorted; none when there is no such folder.
std::vector<std::string> ListFolder(const std::filesystem::path& path);

}  // namespace tench
