// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run: launches a worker on the job of one cell, watches it, and turns its end into a RunRecord
// and its series. A worker that crashes, hangs, floods its log, breaks the protocol or exhausts the
// memory costs this run only. Not aware of studies, rounds or the store.
//
// Invariants: the worker's whole process group is gone when RunCell returns.
// Thread safety: one run at a time per process, on the main thread (base/subprocess.h).

#include <functional>

#include "base/stop_token.h"
#include "run/session/run_request.h"
#include "run/session/worker_catalog.h"

namespace tench {

// Never fails: a failure is the record's outcome and reason. `progress` is called about ten times a
// second and may be null. A requested stop ends the worker with the outcome `interrupted`.
RunResult RunCell(WorkerCatalog& workers, const RunRequest& request,
                  const std::function<void(const RunProgress&)>& progress, StopToken stop);

// Removes the temporary folders of runs whose tench was killed. `tench run`, `sweep` and `verify`
// call it first.
void RemoveAbandonedRunFolders();

}  // namespace tench
