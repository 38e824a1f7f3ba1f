// SPDX-License-Identifier: Apache-2.0
#include "run/study/study_tuner.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "run/study/cell_tuner.h"
#include "run/study/study_builds.h"

namespace tench {
namespace {

// Nothing is known of the workers yet: start-up, build, warm-up and sentinel of a run, and the
// parity check of a cell.
constexpr int64_t kUsualOverheadNs = 1'000'000'000, kUsualParityNs = 3'000'000'000;

std::string Title(const Cell& cell) {
  return fmt::format("{} {} {} b{}", cell.Text(kAxisWorker), cell.Text(kAxisNetwork),
                     Name(cell.phase()), cell.Integer(kAxisBatch));
}

}  // namespace

double TuningShare(const StudyRequest& request, int64_t tune_ns) {
  double runs_ns = 0;
  for (const PlannedCell& cell : request.cells) {
    if (cell.budget.fixed_steps > 0 || cell.budget.epochs > 0) return 0;
    if (request.verify) runs_ns += static_cast<double>(kUsualParityNs);
    runs_ns += static_cast<double>(request.rounds) *
               static_cast<double>(cell.budget.time_limit_ns + kUsualOverheadNs);
  }
  const double tuning = static_cast<double>(tune_ns);
  return tuning > 0 ? tuning / (tuning + runs_ns) : 0;
}

const TuningRecord* StudyTuner::Find(const std::string& cell_id) const {
  const auto found = tunings_.find(cell_id);
  return found == tunings_.end() ? nullptr : &found->second;
}

Status StudyTuner::TuneStudy(const StudyRequest& request, const StudyRecord& study,
                             const std::set<std::pair<int64_t, std::string>>& finished,
                             StudyResult& result) {
  for (TuningRecord& tuning : TENCH_TRY(store_.Tunings(study.id)))
    tunings_.emplace(tuning.cell_id, std::move(tuning));
  std::vector<const PlannedCell*> open;
  StudyTuning state;
  for (const PlannedCell& cell : request.cells) {
    bool needed = false;
    for (int64_t round = 0; round < request.rounds; ++round)
      needed = needed || !finished.contains({round, cell.id});
    if (cell.cell.Text(kAxisTuned) != "yes" || !needed || tunings_.contains(cell.id)) continue;
    // A worker that is not installed takes no time.
    if (builds_.at(cell.cell.Text(kAxisWorker)).empty()) continue;
    open.push_back(&cell);
    state.budget_ns += cell.limits.tune_budget_ns;
  }
  if (open.empty()) return Ok();
  state.cells = open.size();
  state.share = TuningShare(request, state.budget_ns);
  events_.OnTuning(state);
  const int64_t began_ns = NowNs();
  for (const PlannedCell* cell : open) {
    TENCH_TRY(TuneCell(request, study, *cell, state, result));
    if (result.interrupted) return Ok();
    ++state.done;
    state.elapsed_ns = NowNs() - began_ns;
  }
  result.tuned = static_cast<int64_t>(open.size());
  result.tune_ns = state.elapsed_ns;
  events_.OnTuning(state);
  return Ok();
}

Status StudyTuner::TuneCell(const StudyRequest& request, const StudyRecord& study,
                            const PlannedCell& cell, StudyTuning& state, StudyResult& result) {
  const std::string& worker = cell.cell.Text(kAxisWorker);
  RunRequest run{cell, study.id, 0, 0, study.machine, study.machine_id};
  run.build = builds_.at(worker);
  run.readers = request.readers;
  state.cell = Title(cell.cell);
  CellTuner tuner(workers_, stop_);
  TuningRecord tuning = tuner.Tune(run, [&](const TuningProgress& trial) {
    state.trial = trial;
    events_.OnTuning(state);
  });
  result.interrupted = stop_.stop_requested();
  if (result.interrupted) return Ok();
  // Settings found with another build are no result.
  if (Status unchanged = CheckUnchanged(workers_, worker); !unchanged)
    return std::move(unchanged).error().In(fmt::format("study {} stops", study.id));
  TENCH_TRY(store_.AddTuning(tuning));
  tunings_.emplace(cell.id, std::move(tuning));
  return Ok();
}

}  // namespace tench
