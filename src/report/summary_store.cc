// SPDX-License-Identifier: Apache-2.0
// The part of summary.h that reads a store.
#include <algorithm>
#include <set>

#include "report/stored_facts.h"
#include "report/summary.h"
#include "store/loss_judgement.h"

namespace tench {

Result<std::vector<StudyRecord>> ReadRuns(Store& store, const RankOptions& options,
                                          const std::function<void(const RunRecord&)>& add,
                                          const std::function<void(const RunRecord&)>& observe) {
  std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  for (const int64_t asked : options.studies) {
    const bool exists = std::any_of(studies.begin(), studies.end(),
                                    [&](const StudyRecord& study) { return study.id == asked; });
    if (asked != 0 && !exists) {
      return Failed("there is no study {}; {}", asked,
                    studies.empty() ? "the file has no study"
                                    : fmt::format("the newest is {}", studies.back().id));
    }
  }
  const std::set<int64_t> wanted(options.studies.begin(), options.studies.end());
  const std::optional<int64_t> only_study =
      wanted.size() == 1 ? std::optional(*wanted.begin()) : std::nullopt;
  std::set<int64_t> seen;
  TENCH_TRY(ForEachJudgedRun(store, only_study, [&](const RunRecord& run) {
    if (!wanted.empty() && !wanted.contains(run.study)) return true;
    if (!options.only.empty() && !options.only.Matches(run)) {
      observe(run);
      return true;
    }
    add(run);
    seen.insert(run.study);
    return true;
  }));
  std::erase_if(studies, [&](const StudyRecord& study) { return !seen.contains(study.id); });
  return studies;
}

Result<Ranking> Rank(Store& store, const RankOptions& options) {
  RankingBuilder builder(options.by, options.all_roles);
  std::vector<StudyRecord> studies = TENCH_TRY(ReadRuns(
      store, options, [&](const RunRecord& run) { builder.Add(run); },
      [&](const RunRecord& run) { builder.Observe(run); }));
  Ranking ranking = std::move(builder).Finish();
  ranking.SetStudies(std::move(studies));
  TENCH_TRY(AddStoredFacts(store, ranking));
  return ranking;
}

}  // namespace tench
