// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the cells again whose newest point is a candidate for a level change: one new study with
// as many rounds as that point has. The new study is a further point of the history, which confirms
// or dismisses the candidate.

#include <filesystem>

#include "base/error.h"
#include "base/stop_token.h"
#include "plan/matrix.h"
#include "report/history.h"
#include "run/session/worker_catalog.h"
#include "store/store.h"

namespace tench {

struct RerunPlan {
  std::vector<PlannedCell> cells;
  int64_t rounds = 0;
  std::vector<std::string> skipped;  // one line per candidate that cannot be measured here
};

// A candidate can be measured on its own machine with its own build of the worker.
RerunPlan PlanRerun(const History& history, WorkerCatalog& workers, const std::string& machine_id,
                    StopToken stop);

// `database` is the file of the store. The study's number; nullopt if it was interrupted.
Result<std::optional<int64_t>> Rerun(Store& store, const std::filesystem::path& database,
                                     WorkerCatalog& workers, const RerunPlan& plan, StopToken stop);

}  // namespace tench
