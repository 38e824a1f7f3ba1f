// SPDX-License-Identifier: Apache-2.0
#pragma once
// The path of a tensor that a job requests: FOLDER/KIND/NAME.bin, KIND one of outputs, gradients,
// parameters and state. Shared by the worker, which writes the file, and tench, which reads it.

#include <filesystem>
#include <string_view>

namespace tench {

// A '/' in a name becomes "%2F" and a '%' becomes "%25", so that no two names share a file.
std::filesystem::path TensorPath(const std::filesystem::path& folder, std::string_view kind,
                                 std::string_view name);

}  // namespace tench
