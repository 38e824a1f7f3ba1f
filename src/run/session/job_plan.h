// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans the job of a cell, and fills the facts of a run's record that are known before the run.
// Pure except for reading a network's file.

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "protocol/message.h"
#include "run/session/run_request.h"
#include "store/record.h"

namespace tench {

// "tench run --worker … --steps 5": what a user types to repeat the cell under the same conditions.
std::string Reproducer(const PlannedCell& planned);

// Who, where, when and how to repeat it; no outcome yet.
RunRecord DraftRecord(const RunRequest& request);

// The job, and in `record` the threads, fingerprint, parameters and FLOPs. An error is the reason
// why this machine cannot run the cell. Threads 0 become as many as there are CPUs; epochs become
// fixed steps; images 0 become the data set's size where more than one batch of it is used.
Result<Job> PlanJob(const PlannedCell& planned, int64_t allowed_cpus, RunRecord& record,
                    const NetworkReaders& readers = {});

}  // namespace tench
