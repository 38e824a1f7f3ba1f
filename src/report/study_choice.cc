// SPDX-License-Identifier: Apache-2.0
#include "report/study_choice.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace tench {
namespace {

Result<bool> HasMatchingRun(Store& store, int64_t study,
                            const std::vector<const RunSelector*>& selectors) {
  bool found = false;
  TENCH_TRY(store.ForEachRun({.study = study, .cell_id = {}, .run = {}}, [&](const RunRecord& run) {
    found = std::all_of(selectors.begin(), selectors.end(),
                        [&](const RunSelector* selector) { return selector->Matches(run); });
    return !found;
  }));
  return found;
}

}  // namespace

Result<std::optional<int64_t>> NamedStudy(Store& store, const std::string& text,
                                          const std::string& file) {
  if (text == "all") return std::optional<int64_t>();
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  if (studies.empty()) return Failed("{} has no study", file);
  if (text == "latest") return std::optional(studies.back().id);
  const int64_t wanted = TENCH_TRY(ParseInteger(text).In("study"));
  std::vector<std::string> known;
  for (const StudyRecord& study : studies) {
    if (study.id == wanted) return std::optional(wanted);
    known.push_back(fmt::format("{} ({}, {})", study.id, study.suite, study.started_utc));
  }
  return Failed("{} has no study {}; it has {}", file, wanted, Join(known, ", "));
}

Result<std::optional<int64_t>> LatestStudy(Store& store,
                                           const std::vector<const RunSelector*>& selectors) {
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
    if (TENCH_TRY(HasMatchingRun(store, study->id, selectors))) return std::optional(study->id);
  }
  return std::optional<int64_t>();
}

Result<std::vector<int64_t>> LatestStudyOfEachMachine(Store& store, const RunSelector& selector) {
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  std::set<std::string> machines;
  std::vector<int64_t> latest;
  for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
    if (machines.contains(study->machine_id)) continue;
    if (!TENCH_TRY(HasMatchingRun(store, study->id, {&selector}))) continue;
    machines.insert(study->machine_id);
    latest.push_back(study->id);
  }
  std::reverse(latest.begin(), latest.end());
  return latest;
}

}  // namespace tench
