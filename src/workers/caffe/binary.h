// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's own `caffe`: where it is, which version, which BLAS it would load. Nothing here
// computes.

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tench::caffe_worker {

// What TENCH_CAFFE names, otherwise `caffe` on PATH. Missing: kUnsupported with what to do.
Result<std::filesystem::path> FindBinary();

struct BinaryFacts {
  std::string version;  // "1.0.0"; "unknown" if it does not say
  std::string blas;     // the library's file; "" if the loader does not tell
};

BinaryFacts AskBinary(const std::filesystem::path& binary);

}  // namespace tench::caffe_worker
