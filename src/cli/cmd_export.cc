// SPDX-License-Identifier: Apache-2.0
// `tench export`: results in the formats of earlier studies.
#include <memory>

#include "cli/command.h"
#include "cli/live_line.h"
#include "cli/study_flags.h"
#include "report/thesis_csv.h"

namespace tench {
namespace {

struct ExportFlags {
  StudyFlags study;
  std::string thesis;
};

Result<int> Export(const ExportFlags& flags) {
  Store store = TENCH_TRY(flags.study.Open());
  const std::optional<int64_t> study = TENCH_TRY(flags.study.Study(store));
  LiveLine line;
  line.Show("reading the runs");
  const ThesisExport result = TENCH_TRY(ExportThesis(store, study, flags.thesis));
  line.Clear();
  for (const auto& file : result.files) fmt::print("{}\n", file.string());
  for (const std::string& note : result.notes) fmt::print(stderr, "note: {}\n", note);
  return 0;
}

}  // namespace

Command AddExportCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("export", "Write the results in the formats of earlier studies");
  auto flags = std::make_shared<ExportFlags>();
  flags->study.AddTo(*app, StudyFlags::With::kStudy);
  app->add_option("--thesis", flags->thesis,
                  "write the 2017 study's loss_*.csv and times_*.csv into this folder")
      ->required()
      ->type_name("");
  return {app, [flags] { return Export(*flags); }};
}

}  // namespace tench
