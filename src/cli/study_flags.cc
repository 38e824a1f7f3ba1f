// SPDX-License-Identifier: Apache-2.0
#include "cli/study_flags.h"

#include "base/text.h"
#include "cli/bundle.h"
#include "cli/command.h"
#include "report/study_choice.h"

namespace tench {

void StudyFlags::AddTo(CLI::App& app, With with) {
  database_ = kDefaultDatabase;
  app.add_option("--db", database_, fmt::format("results file [{}]", kDefaultDatabase))
      ->type_name("");
  app.add_option("--study", study_, "study number, latest, or all to pool the studies [latest]")
      ->type_name("");
  if (with == With::kStudy) return;
  app.add_option("--only", only_,
                 "use only matching runs, e.g. --only network=lenet,mlp --only machine=pond")
      ->type_name("")
      ->take_all();
}

void StudyFlags::AddFileTo(CLI::App& app) {
  app.add_option("FILE", database_, "results file or bundle, like --db")->type_name("");
}

Result<Store> StudyFlags::Open() const {
  ResultsFile file = TENCH_TRY(ResultsFile::Open(database_));
  if (file.folder) extracted_ = std::make_shared<TemporaryFolder>(std::move(*file.folder));
  return std::move(file.store);
}

Result<std::optional<int64_t>> StudyFlags::Study(Store& store) const {
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  if (study_.empty()) {
    const RunSelector only = TENCH_TRY(Filter());
    const std::optional<int64_t> latest = TENCH_TRY(LatestStudy(store, {&only}));
    if (latest && studies.size() > 1) {
      fmt::print(stderr, "study {}, the latest of {} in {}; --study all pools them\n", *latest,
                 studies.size(), database_);
    }
    return latest;
  }
  if (study_ == "all") return std::optional<int64_t>();
  if (studies.empty()) return Failed("{} has no study", database_);
  if (study_ == "latest") return std::optional(studies.back().id);
  const int64_t wanted = TENCH_TRY(ParseInteger(study_).In("--study"));
  std::vector<std::string> known;
  for (const StudyRecord& study : studies) {
    if (study.id == wanted) return std::optional(wanted);
    known.push_back(fmt::format("{} ({}, {})", study.id, study.suite, study.started_utc));
  }
  return Failed("{} has no study {}; it has {}", database_, wanted, Join(known, ", "));
}

Result<std::vector<int64_t>> StudyFlags::StudyOfEachMachine(Store& store) const {
  if (study_.empty()) return LatestStudyOfEachMachine(store, TENCH_TRY(Filter()));
  const std::optional<int64_t> study = TENCH_TRY(Study(store));
  return study ? std::vector{*study} : std::vector<int64_t>();
}

Result<RunSelector> StudyFlags::Filter() const { return ParseSelector(only_).In("--only"); }

}  // namespace tench
