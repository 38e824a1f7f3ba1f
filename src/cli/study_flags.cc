// SPDX-License-Identifier: Apache-2.0
#include "cli/study_flags.h"

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
  if (!study_.empty()) return NamedStudy(store, study_, database_);
  const RunSelector only = TENCH_TRY(Filter());
  const std::optional<int64_t> latest = TENCH_TRY(LatestStudy(store, {&only}));
  const size_t studies = TENCH_TRY(store.Studies()).size();
  if (latest && studies > 1) {
    fmt::print(stderr, "study {}, the latest of {} in {}; --study all pools them\n", *latest,
               studies, database_);
  }
  return latest;
}

Result<std::vector<int64_t>> StudyFlags::StudyOfEachMachine(Store& store) const {
  if (study_.empty()) return LatestStudyOfEachMachine(store, TENCH_TRY(Filter()));
  const std::optional<int64_t> study = TENCH_TRY(Study(store));
  return study ? std::vector{*study} : std::vector<int64_t>();
}

Result<RunSelector> StudyFlags::Filter() const { return ParseSelector(only_).In("--only"); }

}  // namespace tench
