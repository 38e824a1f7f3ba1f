// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks a shared library before dlopen. The loader maps the segments that the ELF headers list,
// and a truncated file kills the process with SIGBUS. The check turns that into an error of one
// line. Loads nothing.

#include <filesystem>

#include "base/error.h"

namespace tench {

// Errors are kUnsupported and do not name a fix: "FILE is cut off: …", "FILE is no shared library
// of this machine".
Status CheckLibraryFile(const std::filesystem::path& file);

}  // namespace tench
