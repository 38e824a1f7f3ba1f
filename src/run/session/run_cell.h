// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run: launches a worker for one job, watches it, and turns whatever happens into a RunRecord
// and its series. A worker that crashes, hangs, floods, lies or eats all memory costs this run
// only: its whole process group is gone when Execute returns. Not aware of studies, rounds or the
// store.

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "data/data_set.h"
#include "plan/matrix.h"
#include "record/profile_row.h"
#include "run/session/worker_catalog.h"
#include "store/record.h"

namespace tench {

// Temporary folders of runs and of parity trials begin with these.
inline constexpr const char* kRunFolderPrefix = "tench-run-";
inline constexpr const char* kParityFolderPrefix = "tench-parity-";

struct RunRequest {
  PlannedCell planned;
  int64_t study = 0, round = 0, attempt = 0;
  std::string machine, machine_id;
  bool profile =
      false;  // ask the worker what each kernel cost; timing them makes steps a little slower
  NetworkReaders readers = {};  // of networks' files
  std::function<Status(Job&)> amend =
      {};                      // what the job has beyond the cell: weights, a solver's schedule
  std::string amendment = {};  // the same as flags, for whoever repeats the run
};

// For a live line: what the run is doing now.
struct RunProgress {
  std::string stage;  // "starting", "building", "warming up", "measuring"
  int64_t steps = 0;  // timed so far
  double last_step_ns = 0;
  double loss = 0;
  int64_t rss_bytes = 0;
  int64_t elapsed_ns = 0;
};

struct RunResult {
  RunRecord record;
  RunSeries series;
  std::vector<ProfileRow> profile = {};  // if it was asked for
};

// Never fails: what goes wrong is the record's outcome and reason. `progress` is called about ten
// times a second. When `stop` (set by a signal handler) becomes non-zero the worker is ended and
// the outcome is `interrupted`.
RunResult Execute(WorkerCatalog& workers, const RunRequest& request,
                  const std::function<void(const RunProgress&)>& progress, StopToken stop);

// Folders of runs whose tench was killed; `tench run`, `sweep` and `verify` begin with it.
void RemoveAbandonedRunFolders();

}  // namespace tench
