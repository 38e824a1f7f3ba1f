// SPDX-License-Identifier: Apache-2.0
#include "store/merge.h"

#include <map>
#include <tuple>

namespace tench {
namespace {

using StudyIdentity =
    std::tuple<std::string, std::string, std::string, std::string, std::string, uint64_t>;

StudyIdentity IdentityOf(const StudyRecord& study) {
  return {study.machine_id, study.suite,       study.suite_fingerprint,
          study.filter,     study.started_utc, study.seed};
}

using RunIdentity =
    std::tuple<int64_t, int64_t, std::string, int64_t, std::string, std::string, int64_t>;

// Two single runs may start in the same second, so their identity includes the duration in
// nanoseconds.
RunIdentity IdentityOf(const RunRecord& run, int64_t study) {
  if (study != 0) return {study, run.round, run.cell_id, run.attempt, "", "", 0};
  return {0, 0, run.cell_id, 0, run.machine_id, run.started_utc, run.summary.wall_ns};
}

struct RunTrace {
  std::string started_utc;
  int64_t wall_ns = 0;

  bool operator==(const RunTrace&) const = default;
};

RunTrace TraceOf(const RunRecord& run) { return {run.started_utc, run.summary.wall_ns}; }

Result<std::map<RunIdentity, RunTrace>> RunsOf(Store& store) {
  std::map<RunIdentity, RunTrace> runs;
  TENCH_TRY(store.ForEachRun({}, [&](const RunRecord& run) {
    runs.emplace(IdentityOf(run, run.study), TraceOf(run));
    return true;
  }));
  return runs;
}

// Maps each study id of `from` to its id in `into`.
Result<std::map<int64_t, int64_t>> MergeStudies(Store& into, Store& from,
                                                std::optional<int64_t> only, MergeCounts& counts) {
  std::map<StudyIdentity, int64_t> known;
  for (const StudyRecord& study : TENCH_TRY(into.Studies()))
    known.emplace(IdentityOf(study), study.id);
  std::map<int64_t, int64_t> ids = {{0, 0}};
  for (const StudyRecord& study : TENCH_TRY(from.Studies())) {
    if (only && study.id != *only) continue;
    const auto found = known.find(IdentityOf(study));
    if (found != known.end()) {
      ids[study.id] = found->second;
      TENCH_TRY(into.ExtendStudy(found->second, study.rounds, study.cells, study.builds));
      continue;
    }
    ids[study.id] = TENCH_TRY(into.AddStudy(study));
    known.emplace(IdentityOf(study), ids[study.id]);
    ++counts.studies;
  }
  return ids;
}

// Only a study that is new here brings its tunings: a known one has its own.
Status MergeTunings(Store& into, Store& from, const std::map<int64_t, int64_t>& studies) {
  for (const auto& [theirs, ours] : studies) {
    if (theirs == 0 || !TENCH_TRY(into.Tunings(ours)).empty()) continue;
    for (TuningRecord tuning : TENCH_TRY(from.Tunings(theirs))) {
      tuning.study = ours;
      TENCH_TRY(into.AddTuning(tuning));
    }
  }
  return Ok();
}

// A result keeps its build and CPU model, so that a machine with another CPU does not find it. A
// result without them, from an older file, is skipped.
Status MergeParities(Store& into, Store& from, MergeCounts& counts) {
  for (const ParityRecord& parity : TENCH_TRY(from.Parities())) {
    if (parity.key.build.empty() || parity.key.cpu_model.empty()) continue;
    const auto known = TENCH_TRY(into.FindParity(parity.key));
    if (known && known->checked_utc >= parity.checked_utc) continue;
    TENCH_TRY(into.SetParity(parity));
    ++counts.parities;
  }
  return Ok();
}

}  // namespace

MergeCounts& MergeCounts::operator+=(const MergeCounts& other) {
  studies += other.studies;
  runs += other.runs;
  parities += other.parities;
  known_runs += other.known_runs;
  conflicts += other.conflicts;
  return *this;
}

Result<MergeCounts> MergeStore(Store& into, Store& from, std::optional<int64_t> study) {
  MergeCounts counts;
  const std::map<int64_t, int64_t> studies = TENCH_TRY(MergeStudies(into, from, study, counts));
  const std::map<RunIdentity, RunTrace> known = TENCH_TRY(RunsOf(into));
  const auto copy = [&](const RunRecord& run, int64_t target) -> Status {
    RunRecord copied = run;
    copied.study = target;
    const RunSeries series = TENCH_TRY(from.Series(run.id));
    TENCH_TRY(into.AddRun(copied, series));
    ++counts.runs;
    return Ok();
  };
  Status copied = Ok();
  RunFilter filter;
  filter.study = study;
  TENCH_TRY(from.ForEachRun(filter, [&](const RunRecord& run) {
    const int64_t target = studies.at(run.study);
    if (const auto found = known.find(IdentityOf(run, target)); found != known.end())
      ++(found->second == TraceOf(run) ? counts.known_runs : counts.conflicts);
    else
      copied = copy(run, target);
    return copied.ok();
  }));
  if (!copied.ok()) return copied.error();
  TENCH_TRY(MergeTunings(into, from, studies));
  TENCH_TRY(MergeParities(into, from, counts));
  return counts;
}

}  // namespace tench
