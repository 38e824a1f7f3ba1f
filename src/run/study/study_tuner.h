// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tunings of a study: one per cell of the tuned track, made before round 1, stored, and used by
// every round. A resumed study reads them from the store. A new study tunes again: nothing is
// remembered from one study to the next, for any worker.
//
// Ownership: refers to the store, the workers, the builds and the events, which must outlive it.
// Thread safety: none.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/stop_token.h"
#include "run/session/worker_catalog.h"
#include "run/study/runner.h"
#include "store/store.h"

namespace tench {

class StudyTuner {
 public:
  StudyTuner(Store& store, WorkerCatalog& workers, const WorkerBuilds& builds, RunnerEvents& events,
             StopToken stop)
      : store_(store), workers_(workers), builds_(builds), events_(events), stop_(stop) {}

  // Tunes the cells that have no tuning yet and a run to make: a (round, cell id) of the request
  // that is not `finished`. Sets the result's `tuned`, `tune_ns` and `interrupted`.
  Status TuneStudy(const StudyRequest& request, const StudyRecord& study,
                   const std::set<std::pair<int64_t, std::string>>& finished, StudyResult& result);

  // Null for a cell of the untuned track.
  const TuningRecord* Find(const std::string& cell_id) const;

 private:
  Status TuneCell(const StudyRequest& request, const StudyRecord& study, const PlannedCell& cell,
                  StudyTuning& state, StudyResult& result);

  Store& store_;
  WorkerCatalog& workers_;
  const WorkerBuilds& builds_;
  RunnerEvents& events_;
  const StopToken stop_;
  std::map<std::string, TuningRecord> tunings_;  // by cell id
};

// The part of tuning in a study's planned time; 0 = unknown.
double TuningShare(const StudyRequest& request, int64_t tune_ns);

}  // namespace tench
