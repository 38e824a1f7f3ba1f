// SPDX-License-Identifier: Apache-2.0
#pragma once
// The request of a run that belongs to no study, for the commands that run one cell.

#include <memory>
#include <string>

#include "base/stop_token.h"
#include "run/session/run_request.h"
#include "run/session/worker_build.h"
#include "run/session/worker_catalog.h"

namespace tench {

// Null if the worker is not installed, which the run itself reports.
std::shared_ptr<const WorkerBuild> BuildOf(WorkerCatalog& workers, const std::string& worker,
                                           StopToken stop);

// A request with the facts of this machine and the worker's build.
RunRequest SingleRun(const PlannedCell& planned, const NetworkReaders& readers,
                     const WorkerBuild* build);

}  // namespace tench
