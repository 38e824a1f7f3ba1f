// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans the job of a cell, and fills the facts of a run's record that are known before the run.
// Pure except for reading a network's file.

#include <cstdint>
#include <string>
#include <vector>

#include "axis/placement_name.h"
#include "base/error.h"
#include "protocol/message.h"
#include "run/session/run_request.h"
#include "store/record.h"

namespace tench {

// The CPUs that the cell's placement offers on this machine, and the placement.
int64_t CpusFor(const Cell& cell);
PlacementName PlacementOf(const Cell& cell);

// The command that repeats the cell under the same conditions: "tench run --worker … --steps 5".
std::string Reproducer(const PlannedCell& planned);

// The same with everything that this machine determines: the number of threads, the environment
// variables that select a worker or its libraries, and the flags of `amend`.
std::string RunCommand(const RunRequest& request);

// A record with identity, machine, start time and reproducer, without an outcome.
RunRecord DraftRecord(const RunRequest& request);

// Returns the job, and sets threads, solver, fingerprint, parameters, FLOPs and the use of dropout
// masks in `record`. An error is the reason why this machine cannot run the cell. `threads: 0`
// becomes the number of CPUs; epochs become fixed steps; `images: 0` becomes the data set's size if
// more than one batch of it is used.
Result<Job> PlanJob(const PlannedCell& planned, int64_t allowed_cpus, RunRecord& record,
                    const NetworkReaders& readers = {});

}  // namespace tench
