// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tunes one cell: tries the candidate settings of its worker's description (docs/protocol.md), each
// in a short run of its own process, because some settings act before a library is loaded. The
// budget is the cell's `tune_budget`, equal for all workers. Not aware of studies or of the store.
//
// Thread safety: none; for the main thread.

#include <functional>
#include <string>

#include "base/error.h"
#include "base/stop_token.h"
#include "run/session/run_request.h"
#include "run/session/worker_catalog.h"
#include "store/record.h"

namespace tench {

struct TuningProgress {
  size_t trial = 0, trials = 0;  // the trial under way, from 1, and the largest possible number
  std::string candidate;
  RunProgress run;
};

class CellTuner {
 public:
  CellTuner(WorkerCatalog& workers, StopToken stop) : workers_(workers), stop_(stop) {}

  // `request` is that of the run to be tuned. The result has its study, cell and build. A worker
  // that cannot be described gives no settings: its runs report the reason. After a requested stop
  // the result is incomplete and must not be kept.
  TuningRecord Tune(const RunRequest& request,
                    const std::function<void(const TuningProgress&)>& progress);

 private:
  WorkerCatalog& workers_;
  const StopToken stop_;
};

// The candidates that can have an effect on a job of this phase with these ops.
std::vector<CellSettings> CandidatesFor(const Description& description, const Graph& network,
                                        Phase phase);

}  // namespace tench
