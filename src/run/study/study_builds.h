// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ties a study to the builds of its workers and to the measuring rules. A study has one build per
// worker; otherwise a rebuild would show the old build's times, or mix two builds in one row.

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "plan/matrix.h"
#include "run/session/worker_catalog.h"
#include "store/record.h"

namespace tench {

// The builds of all workers of the cells. A worker that is not installed, or whose executable
// cannot be read, has the build "". `identify` is called before each worker, because a large one
// takes seconds. Fails on a stop request.
Result<WorkerBuilds> BuildsOf(WorkerCatalog& workers, const std::vector<PlannedCell>& cells,
                              const std::function<void(const std::string& worker)>& identify,
                              StopToken stop);

// The reason why the study cannot be resumed with these builds and rules, as one line; "" if it
// can. Workers that the study has not measured yet, or that were not installed, are no reason: they
// are added.
std::string WhyNotContinued(const StudyRecord& study, const WorkerBuilds& builds);

// Fails if a file of the worker's build has changed since BuildsOf.
Status CheckUnchanged(WorkerCatalog& workers, const std::string& worker);

}  // namespace tench
