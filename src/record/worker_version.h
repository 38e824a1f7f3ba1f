// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's version for display: the framework's version and the first digits of the build id
// (run/session/worker_build.h), because two builds may have the same version. Pure.

#include <string>

namespace tench {

// "1a2b3c4" of "1a2b3c4d5e6f7081".
std::string ShortBuild(const std::string& build);

// "0.1.0+1a2b3c4"; "2.1.0+cpu.1a2b3c4" if the version already has build metadata (semver.org). Only
// the version if the build is unknown, as in older result files.
std::string ShownVersion(const std::string& version, const std::string& build);

}  // namespace tench
