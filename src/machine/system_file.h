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

// The content without trailing white space; nullopt if the file is absent or unreadable.
std::optional<std::string> ReadSystemFile(const std::filesystem::path& path);
// nullopt unless the whole file is one number.
std::optional<int64_t> ReadSystemInteger(const std::filesystem::path& path);
// The names in a folder, sorted; none if the folder does not exist.
std::vector<std::string> ListFolder(const std::filesystem::path& path);

}  // namespace tench
