// SPDX-License-Identifier: Apache-2.0
#include "cli/study_flags.h"

#include "base/text.h"
#include "cli/command.h"

namespace tench {

void StudyFlags::AddTo(CLI::App& app, With with) {
  database_ = kDefaultDatabase;
  app.add_option("--db", database_, fmt::format("the store [{}]", kDefaultDatabase))->type_name("");
  app.add_option("--study", study_, "only this study: its number, or latest [all]")->type_name("");
  if (with == With::kStudy) return;
  app.add_option("--only", only_,
                 "keep the runs that match, e.g. --only network=lenet,mlp --only batch=64 --only "
                 "machine=pond")
      ->type_name("")
      ->take_all();
}

Result<Store> StudyFlags::Open() const { return Store::Open(database_, Store::Mode::kReadOnly); }

Result<std::optional<int64_t>> StudyFlags::Study(Store& store) const {
  if (study_.empty()) return std::optional<int64_t>();
  const std::vector<StudyRecord> studies = TENCH_TRY(store.Studies());
  if (studies.empty()) return Failed("{} holds no study", database_);
  if (study_ == "latest") return std::optional(studies.back().id);
  const int64_t wanted = TENCH_TRY(ParseInteger(study_).In("--study"));
  std::vector<std::string> known;
  for (const StudyRecord& study : studies) {
    if (study.id == wanted) return std::optional(wanted);
    known.push_back(fmt::format("{} ({}, {})", study.id, study.suite, study.started_utc));
  }
  return Failed("{} has no study {}; it has {}", database_, wanted, Join(known, ", "));
}

Result<RunSelector> StudyFlags::Filter() const { return ParseSelector(only_).In("--only"); }

}  // namespace tench
