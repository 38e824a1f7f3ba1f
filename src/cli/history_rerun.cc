// SPDX-License-Identifier: Apache-2.0
#include "cli/history_rerun.h"

#include <algorithm>

#include "base/text.h"
#include "cli/known_names.h"
#include "cli/live_events.h"
#include "cli/sweep_progress.h"
#include "record/worker_version.h"
#include "run/session/worker_build.h"
#include "run/study/runner.h"

namespace tench {
namespace {

// Fewer rounds can only be ambiguous.
constexpr int64_t kLeastRounds = kFewestRounds;

// Why the candidate cannot be measured here; "" if it can.
std::string Obstacle(const HistorySeries& series, const HistorySegment& segment,
                     WorkerCatalog& workers, const std::string& machine_id, StopToken stop) {
  if (segment.machine_id != machine_id)
    return fmt::format("was measured on another machine, {}", segment.machine);
  const WorkerName worker = WorkerName::Of(series.cell.Text(kAxisWorker));
  const Result<const WorkerEntry*> entry = workers.Find(worker.name);
  if (!entry.ok()) return entry.error().message;
  const auto build = workers.Build(**entry, worker.version, stop);
  if (!build.ok()) return build.error().message;
  const std::string& measured = segment.points.back().build;
  if ((*build)->id != measured)
    return fmt::format("is of build {}; the installed one is {}", ShortBuild(measured),
                       ShortBuild((*build)->id));
  return "";
}

}  // namespace

RerunPlan PlanRerun(const History& history, WorkerCatalog& workers, const std::string& machine_id,
                    StopToken stop) {
  RerunPlan plan;
  for (const HistorySeries& series : history.series) {
    for (const HistorySegment& segment : series.segments) {
      const bool candidate =
          segment.newest && !segment.changes.empty() && segment.changes.back().candidate;
      if (!candidate) continue;
      const std::string obstacle = Obstacle(series, segment, workers, machine_id, stop);
      if (!obstacle.empty()) {
        plan.skipped.push_back(fmt::format("{} {}", series.cell.Label(), obstacle));
        continue;
      }
      const HistoryPoint& point = segment.points.back();
      plan.cells.push_back({series.cell, series.cell_id, point.budget, point.limits, "rerun"});
      plan.rounds = std::max({plan.rounds, kLeastRounds, static_cast<int64_t>(point.times.size())});
    }
  }
  return plan;
}

Result<std::optional<int64_t>> Rerun(Store& store, const std::filesystem::path& database,
                                     WorkerCatalog& workers, const RerunPlan& plan,
                                     StopToken stop) {
  StudyRequest request;
  request.suite = "rerun";
  std::vector<std::string> ids;
  for (const PlannedCell& cell : plan.cells) ids.push_back(cell.id);
  request.suite_fingerprint = Hex64(Hash64(Join(ids, "\n")));
  request.cells = plan.cells;
  request.rounds = plan.rounds;
  request.fresh = true;  // a further point, not more rounds of an older one
  request.sentinel = request.repeat = request.peak = request.verify = true;
  request.sketch_folders = SketchFolders();
  request.readers = FileReaders();
  SweepProgress progress;
  LiveEvents events(progress, database, plan.rounds);
  const StudyResult result = TENCH_TRY(RunStudy(store, workers, request, events, stop));
  progress.Close();
  if (result.interrupted || result.study == 0) return std::optional<int64_t>();
  return std::optional(result.study);
}

}  // namespace tench
