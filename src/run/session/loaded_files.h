// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of a worker: the executables of its processes and the shared objects that they map,
// except the C and C++ runtime. They are read from /proc/PID/maps after the first step of a small
// job. By then, frameworks opened at run time, kernel libraries loaded on demand and child programs
// are present. Workers need not cooperate, so this works for any language.

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct LoadedCode {
  std::vector<std::filesystem::path> files;  // sorted, each once
  // Packages that are no mapped files, as the worker's fact `packages` lists them: names and
  // versions of the Python distributions of a user's environment. Usually empty.
  std::string packages;
  // Why the worker ended before its hello, if it did: its framework does not load. No files then.
  std::string not_loaded;
};

// The worker is killed after the first step. Fails if a worker that loaded its framework executes
// no step, or on a stop request.
Result<LoadedCode> LoadedFiles(const WorkerEntry& entry, const std::string& version,
                               StopToken stop);

}  // namespace tench
