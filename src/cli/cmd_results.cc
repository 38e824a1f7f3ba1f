// SPDX-License-Identifier: Apache-2.0
// `tench results`: the ranking of the stored runs.
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
  std::string by, price;
  bool csv = false, json = false, markdown = false, wide = false, all_roles = false;
};

TextOptions ForStandardOutput(const ResultsFlags& flags) {
  TextOptions options;
  options.markdown = flags.markdown;
  if (flags.markdown) return options;
  options.width = flags.wide ? 0 : OutputWidth();
  options.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  return options;
}

Result<int> Results(const ResultsFlags& flags) {
  if (flags.csv + flags.json + flags.markdown > 1)
    return Failed("--csv, --json and --markdown exclude each other");
  RankOptions options;
  if (flags.by == kMachineAxis) {
    options.by = kByMachine;
  } else if (!flags.by.empty()) {
    options.by = TENCH_TRY(FindAxis(flags.by).In("--by"));
  }
  std::optional<double> price;
  if (!flags.price.empty()) {
    const Result<double> value = ParseReal(flags.price);
    if (!value || !(*value > 0 && *value < 1e9))
      return Failed("--price-per-hour: '{}' is not a price above 0", Printable(flags.price, 60));
    price = *value;
  }
  Store store = TENCH_TRY(flags.study.Open());
  if (options.by == kByMachine) {
    options.studies = TENCH_TRY(flags.study.StudyOfEachMachine(store));
  } else if (const auto study = TENCH_TRY(flags.study.Study(store))) {
    options.studies = {*study};
  }
  options.only = TENCH_TRY(flags.study.Filter());
  options.all_roles = flags.all_roles;
  Ranking ranking = TENCH_TRY(Rank(store, options));
  ranking.price_per_hour = price;
  std::string text;
  if (flags.csv) {
    text = RenderCsv(ranking);
  } else if (flags.json) {
    text = RenderJson(ranking);
  } else {
    text = RenderText(ranking, ForStandardOutput(flags));
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace

Command AddResultsCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("results", "Show the ranking, and each failed cell with its reason");
  auto flags = std::make_shared<ResultsFlags>();
  flags->study.AddTo(*app);
  flags->study.AddFileTo(*app);
  app->add_option("--by", flags->by,
                  "rank by this axis instead of by worker: batch, threads, …, or machine")
      ->type_name("");
  app->add_flag("--all-roles", flags->all_roles,
                "rank the baseline (native) and the oracle (reference) among the frameworks");
  app->add_option("--price-per-hour", flags->price,
                  "price of an hour of this machine: adds the cost of a million images")
      ->type_name("");
  app->add_flag("--csv", flags->csv, "print CSV, one record per cell");
  app->add_flag("--json", flags->json, "print JSON, one object per cell");
  app->add_flag("--markdown", flags->markdown, "print tables in Markdown, for a document");
  app->add_flag("--wide", flags->wide, "print all columns, even if they exceed the terminal");
  return {app, [flags] { return Results(*flags); }};
}

}  // namespace tench
