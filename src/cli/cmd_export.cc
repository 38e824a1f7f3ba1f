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
  std::string thesis, logs;
};

Result<int> Export(const ExportFlags& flags) {
  if (flags.thesis.empty() && flags.logs.empty())
    return Failed("nothing to write: use --thesis FOLDER or --logs FOLDER");
  Store store = TENCH_TRY(flags.study.Open());
  const std::optional<int64_t> study = TENCH_TRY(flags.study.Study(store));
  LiveLine line;
  line.Show("reading the runs");
  const auto tell = [&line](const ThesisExport& done) {
    line.Clear();
    for (const auto& file : done.files) fmt::print("{}\n", file.string());
    for (const std::string& note : done.notes) fmt::print(stderr, "note: {}\n", note);
  };
  if (!flags.thesis.empty()) tell(TENCH_TRY(ExportThesis(store, study, flags.thesis)));
  if (!flags.logs.empty()) tell(TENCH_TRY(ExportLogs(store, study, flags.logs)));
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
      ->type_name("");
  app->add_option("--logs", flags->logs,
                  "write a log train_{network}_{mode}_{batch}.log of each cell into this folder")
      ->type_name("");
  return {app, [flags] { return Export(*flags); }};
}

}  // namespace tench
