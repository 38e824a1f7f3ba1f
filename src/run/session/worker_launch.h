// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line, environment, CPU affinity and pipes of a worker process that is not started
// yet. Not aware of the protocol or of the running process.
//
// Ownership: a WorkerLaunch owns both ends of its pipes until WorkerProcess::Start takes it over.

#include <filesystem>
#include <string>

#include "axis/placement_name.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "protocol/message.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct WorkerLaunch {
  SpawnOptions spawn;
  Pipe answers;  // the protocol's channel, or the output of --describe
  Pipe log;      // all other output; a closed pipe = inherited
  Pipe turns;    // the worker's standard input, for a job in turns; otherwise closed
};

// A worker with N threads gets N of the CPUs that tench may use, as `placement` selects them, and
// one more for each thread of its loader as far as there are any.
// `version` as for WorkerEnvironment. Writes `folder`/job.json, so `folder` must outlive the
// process. Errors are the machine's (no space, no descriptors), or kUnsupported if there are too
// few CPUs.
Result<WorkerLaunch> JobLaunch(const WorkerEntry& entry, const Job& job, const std::string& version,
                               const std::filesystem::path& folder,
                               const PlacementName& placement = {});

// The description arrives on standard output, where the framework may print too.
Result<WorkerLaunch> DescribeLaunch(const WorkerEntry& entry, const std::string& version);

}  // namespace tench
