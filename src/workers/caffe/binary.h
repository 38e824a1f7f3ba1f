// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's `caffe` program: its path, version and BLAS. Runs no computation.

#include <filesystem>
#include <string>

#include "base/error.h"

namespace tench::caffe_worker {

// The name of one of several Caffe builds: "intel" in a job of `caffe@intel`; "" without a name or
// for a version number.
std::string BinaryName();

// The program in TENCH_CAFFE_NAME (capitals) for a named build, otherwise in TENCH_CAFFE, otherwise
// `caffe` on PATH. If there is none, a kUnsupported error with the fix.
Result<std::filesystem::path> FindBinary();

struct BinaryFacts {
  std::string version;  // "1.0.0"; "unknown" if it is not reported
  std::string blas;     // the library's file; "" if unknown
};

BinaryFacts AskBinary(const std::filesystem::path& binary);

}  // namespace tench::caffe_worker
