// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder of the installed files that draw charts: share/tench beside bin.

#include <filesystem>

#include "base/file.h"

namespace tench {

inline std::filesystem::path ChartTools() {
  return ExecutableFolder().parent_path() / "share" / "tench";
}

}  // namespace tench
