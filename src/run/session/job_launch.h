// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a worker is started on a job, for whoever watches it then: the job's file, the command line,
// the CPUs and the environment. Its log and its answers are the caller's to connect.

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/subprocess.h"
#include "protocol/message.h"
#include "run/session/worker_catalog.h"

namespace tench {

// Writes `folder`/job.json. A worker with N threads gets the first N of the CPUs that tench may
// use; `version` as for WorkerEnvironment.
Result<SpawnOptions> LaunchOf(const WorkerEntry& entry, const Job& job, const std::string& version,
                              const std::filesystem::path& folder);

}  // namespace tench
