// SPDX-License-Identifier: Apache-2.0
#include "report/history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "report/row_comparison.h"
#include "report/row_text.h"
#include "stats/history/change_points.h"
#include "stats/stats.h"
#include "store/loss_judgement.h"

namespace tench {
namespace {

// File names of the libraries that the worker loaded. Folders differ between builds.
std::vector<std::string> LibrariesOf(const RunRecord& run) {
  const Json worker = Json::parse(run.worker_json, nullptr, false);
  std::set<std::string> names;
  if (!worker.is_object() || !worker.contains("libraries") || !worker["libraries"].is_array())
    return {};
  for (const Json& library : worker["libraries"]) {
    if (library.is_string())
      names.insert(std::filesystem::path(library.get<std::string>()).filename().string());
  }
  return {names.begin(), names.end()};
}

// 0 = a reading is missing.
double SentinelSum(const SentinelReadings& readings) {
  const auto& [before, after] = readings;
  if (before.compute_ns <= 0 || before.memory_ns <= 0 || after.compute_ns <= 0 ||
      after.memory_ns <= 0)
    return 0;
  return static_cast<double>(before.compute_ns + before.memory_ns + after.compute_ns +
                             after.memory_ns);
}

void JudgeSteps(HistorySegment& segment, double margin) {
  std::vector<const RatioTest*> tests;
  for (size_t i = 1; i < segment.points.size(); ++i) {
    const PairingRule rule{.source = Source::kSameStore, .margin = margin};
    HistoryPoint& point = segment.points[i];
    point.change = PairRounds(segment.points[i - 1].times, point.times, rule).test;
    tests.push_back(&*point.change);
  }
  const std::vector<RatioJudgement> judgements = JudgeTable(tests);
  for (size_t i = 0; i < judgements.size(); ++i)
    segment.points[i + 1].verdict = judgements[i].verdict;
}

// The sentinel's change points; none if a study lacks readings.
std::vector<ChangePoint> SentinelChanges(const HistorySegment& segment,
                                         const ChangePointRule& rule) {
  std::vector<double> series;
  for (const HistoryPoint& point : segment.points) {
    if (!point.sentinel_ns) return {};
    series.push_back(*point.sentinel_ns);
  }
  return FindChangePoints(series, rule);
}

void FindLevels(HistorySegment& segment, const ChangePointRule& rule) {
  std::vector<double> all, series;
  for (const HistoryPoint& point : segment.points) all.push_back(point.image_ns.value);
  const std::vector<size_t> kept = WithoutIsolatedPoints(all, rule);
  for (const size_t point : kept) series.push_back(all[point]);
  const std::vector<ChangePoint> found = FindChangePoints(series, rule);
  if (found.empty()) return;
  const std::vector<ChangePoint> of_sentinel = SentinelChanges(segment, rule);
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t begin = i == 0 ? 0 : found[i - 1].index;
    const size_t end = i + 1 == found.size() ? series.size() : found[i + 1].index;
    const bool newest = found[i].index + 1 == series.size() && found[i].index - begin > 1;
    if (!newest && RestsOnOnePoint(series, begin, found[i].index, end, rule)) continue;
    const size_t point = kept[found[i].index];
    LevelChange change{point, found[i].Ratio(), found[i].p, newest, std::nullopt};
    for (const ChangePoint& sentinel : of_sentinel) {
      if (sentinel.index == point && (sentinel.Ratio() > 1) == change.slower())
        change.sentinel_ratio = sentinel.Ratio();
    }
    segment.changes.push_back(change);
  }
}

using SegmentKey = std::tuple<std::string, std::string, std::string, std::vector<std::string>,
                              int64_t>;  // machine id, CPU, instruction set, libraries, rules

SegmentKey SegmentKeyOf(const HistorySegment& segment) {
  return {segment.machine_id, segment.cpu_model, segment.isa, segment.libraries, segment.rules};
}

// The newest study in which runs of a cell failed.
struct LatestFailure {
  HistoryFailure failure;
  bool measured = false;  // other runs of that study succeeded
};
using FailureKey = std::tuple<std::string, std::string, std::string>;  // machine id, cell, solver

LatestFailure FailureOf(int64_t study, const RankRow& row) {
  const std::string reason = row.reason.empty() ? "" : ": " + row.reason;
  return {{study, PlainLine(FailureTitle(row) + reason)}, row.measured()};
}

void AttachFailures(HistorySeries& series, const std::map<FailureKey, LatestFailure>& failures) {
  for (HistorySegment& segment : series.segments) {
    const auto found = failures.find({segment.machine_id, series.cell_id, series.solver});
    if (!segment.newest || found == failures.end()) continue;
    const auto& [failure, measured] = found->second;
    const int64_t newest = segment.points.back().study;
    // A study that also has a row without failures was continued with another build.
    if (failure.study > newest || (failure.study == newest && measured)) segment.failure = failure;
  }
}

// Of each machine, the segment with the latest study.
void MarkNewest(HistorySeries& series) {
  std::map<std::string, HistorySegment*> newest;
  for (HistorySegment& segment : series.segments) {
    HistorySegment*& known = newest[segment.machine_id];
    if (known == nullptr || known->points.back().study < segment.points.back().study)
      known = &segment;
  }
  for (auto& [machine, segment] : newest) segment->newest = true;
}

}  // namespace

bool LevelChange::of_machine() const {
  constexpr double kExplained = 0.5;
  return sentinel_ratio && std::log(*sentinel_ratio) / std::log(ratio) >= kExplained;
}

void HistoryBuilder::Observe(const RunRecord& run) {
  if (run.study == 0 || run.study < options_.since) return;
  studies_[run.study].Observe(run);
  if (const double sum = SentinelSum(run.summary.sentinel()); sum > 0)
    sentinel_ns_[run.study].push_back(sum);
}

void HistoryBuilder::Add(const RunRecord& run) {
  if (run.study == 0 || run.study < options_.since) return;
  studies_[run.study].Add(run);
  if (const double sum = SentinelSum(run.summary.sentinel()); sum > 0)
    sentinel_ns_[run.study].push_back(sum);
  if (run.outcome != Outcome::kOk) return;
  extras_[{run.study, run.machine_id, run.cell_id, run.build, run.solver, run.rules}] = {
      LibrariesOf(run), run.budget, run.limits};
}

History HistoryBuilder::Finish(const std::vector<StudyRecord>& studies) && {
  std::map<int64_t, const StudyRecord*> records;
  for (const StudyRecord& study : studies) records[study.id] = &study;
  std::map<int64_t, double> sentinel_ns;
  for (auto& [study, readings] : sentinel_ns_) sentinel_ns[study] = Median(std::move(readings));

  History history;
  history.margin = options_.margin;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> known;
  std::map<FailureKey, LatestFailure> failures;
  for (auto& [study, builder] : studies_) {
    const Ranking ranking = std::move(builder).Finish();
    for (const RankGroup& group : ranking.groups) {
      for (const RankRow& row : group.rows) {
        if (row.HasFailed())
          failures[{group.machine_id, row.cell_id, row.solver}] = FailureOf(study, row);
        const auto extra =
            extras_.find({study, group.machine_id, row.cell_id, row.build, row.solver, row.rules});
        if (!row.measured() || extra == extras_.end()) continue;
        const auto [place, is_new] =
            known.try_emplace({row.cell_id, group.fingerprint, row.solver}, history.series.size());
        if (is_new) {
          history.series.push_back(
              {CellOf(ranking, group, row), row.cell_id, group.fingerprint, row.solver, {}});
        }
        HistoryPoint point;
        point.study = study;
        if (const auto record = records.find(study); record != records.end()) {
          point.started_utc = record->second->started_utc;
          point.suite = record->second->suite;
        }
        point.worker_version = row.worker_version;
        point.build = row.build;
        // By the shortest steps: the steps of other workers have no effect on a cell's history.
        point.times = row.times;
        SetComparedTimes(std::array{ComparedTimes{point.times}});
        point.image_ns = ComparedImage(point.times);
        point.disturbed = std::any_of(point.times.begin(), point.times.end(),
                                      [](const RoundTime& time) { return time.disturbed; });
        if (const auto reading = sentinel_ns.find(study); reading != sentinel_ns.end())
          point.sentinel_ns = reading->second;
        point.budget = extra->second.budget;
        point.limits = extra->second.limits;

        HistorySegment own;
        own.machine = group.machine;
        own.machine_id = group.machine_id;
        own.cpu_model = row.cpu_model;
        own.isa = row.isa;
        own.libraries = std::move(extra->second.libraries);
        own.rules = row.rules;
        std::vector<HistorySegment>& segments = history.series[place->second].segments;
        auto segment = std::find_if(
            segments.begin(), segments.end(),
            [&](const HistorySegment& other) { return SegmentKeyOf(other) == SegmentKeyOf(own); });
        if (segment == segments.end()) segment = segments.insert(segment, std::move(own));
        segment->points.push_back(std::move(point));
      }
    }
  }
  const ChangePointRule rule{.max_p = options_.max_p, .min_change = options_.margin};
  for (HistorySeries& series : history.series) {
    for (HistorySegment& segment : series.segments) {
      JudgeSteps(segment, options_.margin);
      FindLevels(segment, rule);
    }
    MarkNewest(series);
    AttachFailures(series, failures);
  }
  std::stable_sort(history.series.begin(), history.series.end(),
                   [](const HistorySeries& a, const HistorySeries& b) {
                     return std::tie(a.cell.values, a.cell.options, a.fingerprint, a.solver) <
                            std::tie(b.cell.values, b.cell.options, b.fingerprint, b.solver);
                   });
  return history;
}

Result<History> ReadHistory(Store& store, const HistoryOptions& options) {
  HistoryBuilder builder(options);
  TENCH_TRY(ForEachJudgedRun(store, std::nullopt, [&](const RunRecord& run) {
    if (options.only.Matches(run)) {
      builder.Add(run);
    } else {
      builder.Observe(run);
    }
    return true;
  }));
  return std::move(builder).Finish(TENCH_TRY(store.Studies()));
}

}  // namespace tench
