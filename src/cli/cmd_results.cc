// SPDX-License-Identifier: Apache-2.0
// `tench results`: the ranking of what a store holds.
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "axis/axis.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/output_terminal.h"
#include "cli/study_flags.h"
#include "report/csv.h"
#include "report/ranking_json.h"
#include "report/summary.h"
#include "report/terminal.h"

namespace tench {
namespace {

struct ResultsFlags {
  StudyFlags study;
  std::string by;
  bool csv = false, json = false;
};

TextOptions ForStandardOutput() {
  TextOptions options;
  options.width = OutputWidth();
  options.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return options;
}

Result<int> Results(const ResultsFlags& flags) {
  if (flags.csv && flags.json) return Failed("--csv and --json exclude each other");
  RankOptions options;
  if (flags.by == kMachineAxis) {
    options.by = kByMachine;
  } else if (!flags.by.empty()) {
    options.by = TENCH_TRY(FindAxis(flags.by).In("--by"));
  }
  Store store = TENCH_TRY(flags.study.Open());
  options.study = TENCH_TRY(flags.study.Study(store));
  options.only = TENCH_TRY(flags.study.Filter());
  const Ranking ranking = TENCH_TRY(Rank(store, options));
  std::string text;
  if (flags.csv) {
    text = RenderCsv(ranking);
  } else if (flags.json) {
    text = RenderJson(ranking);
  } else {
    text = RenderText(ranking, ForStandardOutput());
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace

Command AddResultsCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("results", "The ranking, and every cell that failed with its reason");
  auto flags = std::make_shared<ResultsFlags>();
  flags->study.AddTo(*app);
  app->add_option(
         "--by", flags->by,
         "compare along this axis instead of between workers, e.g. batch or threads; or machine")
      ->type_name("");
  app->add_flag("--csv", flags->csv, "as CSV, one record per cell");
  app->add_flag("--json", flags->json, "as JSON, one object per cell");
  return {app, [flags] { return Results(*flags); }};
}

}  // namespace tench
