// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a shared library may be handed to the loader. The loader maps what a file's headers
// promise and dies of SIGBUS where the file was cut off (a download or a disk that ended early);
// here that is one line for the user instead. Nothing is loaded.

#include <filesystem>

#include "base/error.h"

namespace tench {

// An error of kind kUnsupported, without the fix: "FILE is cut off: …", "FILE is no shared library
// of this machine".
Status CheckLibraryFile(const std::filesystem::path& file);

}  // namespace tench
