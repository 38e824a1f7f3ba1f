// SPDX-License-Identifier: Apache-2.0
#pragma once
// A text file compressed by gzip, through libarchive.

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace tench {

// Equal content gives equal bytes. The file appears only when it is complete.
Status WriteGzipFile(const std::filesystem::path& path, std::string_view content);

}  // namespace tench
