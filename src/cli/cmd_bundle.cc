// SPDX-License-Identifier: Apache-2.0
// `tench bundle`: a study as one archive, for artifact evaluation.
#include <memory>

#include "base/text.h"
#include "cli/bundle.h"
#include "cli/command.h"
#include "cli/live_line.h"
#include "report/study_choice.h"

namespace tench {
namespace {

struct BundleFlags {
  std::string output, database = kDefaultDatabase, study = "latest";
};

// The newest study; everything in a file of single runs.
Result<std::optional<int64_t>> FindStudy(Store& store, const BundleFlags& flags) {
  if (flags.study == "latest" && TENCH_TRY(store.Studies()).empty())
    return std::optional<int64_t>();
  return NamedStudy(store, flags.study, flags.database);
}

Result<int> Bundle(const BundleFlags& flags) {
  if (!flags.output.ends_with(".tar.zst"))
    return Failed("'{}': the name of a bundle ends in .tar.zst", flags.output);
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadOnly));
  BundleRequest request;
  request.output = flags.output;
  request.database = flags.database;
  request.pins = ExecutableFolder().parent_path() / "share" / "tench" / "pins";
  request.study = TENCH_TRY(FindStudy(store, flags));
  request.version = TENCH_VERSION;
  LiveLine line;
  const BundleCounts counts = TENCH_TRY(WriteBundle(
      store, request, [&](int64_t runs) { line.Show(fmt::format("packed {} runs", runs)); }));
  line.Clear();
  fmt::print(stderr, "wrote {}: {} run{}, {} log{} (tench report {} reads it)\n", flags.output,
             counts.runs, counts.runs == 1 ? "" : "s", counts.logs, counts.logs == 1 ? "" : "s",
             ShellQuote(flags.output));
  return 0;
}

}  // namespace

Command AddBundleCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "bundle", "Pack a study with logs, pins, suite, machine facts and commands into one file");
  auto flags = std::make_shared<BundleFlags>();
  app->add_option("OUT", flags->output, "file to write, ending in .tar.zst")
      ->required()
      ->type_name("");
  app->add_option("--db", flags->database, fmt::format("results file [{}]", kDefaultDatabase))
      ->type_name("");
  app->add_option("--study", flags->study, "study number, latest or all [latest]")->type_name("");
  app->footer(
      "results, report, runs, steps and samples read a bundle like a results file:\n"
      "  tench bundle study.tar.zst --db my.db\n"
      "  tench report study.tar.zst -o report.html");
  return {app, [flags] { return Bundle(*flags); }};
}

}  // namespace tench
