// SPDX-License-Identifier: Apache-2.0
// `tench history`: each cell over the studies of a results file, with change points.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/gate_flags.h"
#include "cli/history_rerun.h"
#include "cli/interrupt.h"
#include "cli/output_terminal.h"
#include "cli/side_comparison.h"
#include "machine/host.h"
#include "report/history_text.h"
#include "run/session/run_cell.h"

namespace tench {
namespace {

struct HistoryFlags {
  std::string database = kDefaultDatabase, margin = "1%";
  std::vector<std::string> only, networks, workers;
  int64_t since = 0;
  GateFlags gate;
  bool json = false, rerun = false, wide = false;
};

Result<HistoryOptions> OptionsOf(const HistoryFlags& flags) {
  HistoryOptions options;
  std::vector<std::string> terms = flags.only;
  if (!flags.networks.empty()) terms.push_back("network=" + Join(flags.networks, ","));
  if (!flags.workers.empty()) terms.push_back("worker=" + Join(flags.workers, ","));
  options.only = TENCH_TRY(ParseSelector(terms).In("--only"));
  options.margin = TENCH_TRY(ParseMargin(flags.margin));
  options.since = flags.since;
  return options;
}

Result<History> Read(Store& store, const HistoryFlags& flags, const HistoryOptions& options) {
  History history = TENCH_TRY(ReadHistory(store, options));
  if (!history.series.empty()) return history;
  if (TENCH_TRY(store.Studies()).empty()) return Failed("{} has no study", flags.database);
  return Failed("no measured cell of a study in {} matches{}{}", flags.database,
                flags.since > 0 ? fmt::format(" --since {}", flags.since) : "",
                options.only.empty() ? "" : " the filter");
}

// Whether candidates were measured: then the history has to be read again.
Result<bool> MeasureAgain(const HistoryFlags& flags, const History& history, StopToken stop) {
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const RerunPlan plan = PlanRerun(history, workers, ReadHost().machine_id, stop);
  for (const std::string& line : plan.skipped) fmt::print(stderr, "not measured again: {}\n", line);
  if (plan.cells.empty()) {
    if (plan.skipped.empty()) fmt::print(stderr, "no candidate to measure again\n");
    return false;
  }
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite));
  const std::optional<int64_t> study = TENCH_TRY(Rerun(store, flags.database, workers, plan, stop));
  if (!study) return false;
  fmt::print(stderr, "study {} measured {} candidate{} again\n", *study, plan.cells.size(),
             plan.cells.size() == 1 ? "" : "s");
  return true;
}

Result<int> ShowHistory(const HistoryFlags& flags) {
  const FailOn fail_on = TENCH_TRY(flags.gate.Findings());
  TENCH_TRY(flags.gate.CheckOutput());
  const HistoryOptions options = TENCH_TRY(OptionsOf(flags));
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadOnly));
  History history = TENCH_TRY(Read(store, flags, options));
  if (flags.rerun) {
    Interrupt interrupt;
    const bool measured = TENCH_TRY(MeasureAgain(flags, history, interrupt.stop()));
    if (interrupt.stop().stop_requested()) return kExitInterrupted;
    if (measured) history = TENCH_TRY(Read(store, flags, options));
  }
  fmt::print("{}", flags.json ? PrintJson(HistoryToJson(history), 1) + "\n"
                              : RenderHistory(history, flags.wide ? 0 : OutputWidth()));
  return flags.gate.Conclude(std::vector{GateOf(history)}, fail_on);
}

}  // namespace

Command AddHistoryCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "history", "Show each cell over the studies of a file, and where its speed changed");
  auto flags = std::make_shared<HistoryFlags>();
  app->add_option("--db", flags->database, fmt::format("results file [{}]", kDefaultDatabase))
      ->type_name("");
  app->add_option("--network", flags->networks, "only these networks")
      ->type_name("")
      ->delimiter(',')
      ->take_all();
  app->add_option("--worker", flags->workers, "only these workers")
      ->type_name("")
      ->delimiter(',')
      ->take_all();
  app->add_option("--only", flags->only,
                  "use only matching runs, e.g. --only batch=64 --only machine=pond")
      ->type_name("")
      ->take_all();
  app->add_option("--since", flags->since, "leave out the studies before this one")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40).description(""));
  app->add_option("--margin", flags->margin, "ignore changes within this margin, e.g. 2% [1%]")
      ->type_name("");
  app->add_flag("--rerun", flags->rerun,
                "first measure the cells again whose newest point may be a change");
  app->add_flag("--json", flags->json, "print JSON, with every point");
  app->add_flag("--wide", flags->wide, "print all columns, even if they exceed the terminal");
  flags->gate.AddTo(*app, "none");
  app->footer(
      "A change of level is confirmed by at least two studies after it. A change at the newest\n"
      "study is a candidate, which --rerun measures again; a single spike is no change.\n"
      "  tench history --network lenet --worker native\n"
      "  tench history --db ci.db --rerun --fail-on slower,failed     alarm of a nightly job\n"
      "  tench history --db ci.db --since 12                          after an accepted change\n"
      "Exit code: 0 nothing that --fail-on names, 4 (failed) a run of a cell failed in its\n"
      "newest study, 1 the newest confirmed change of a cell is slower, 3 (ambiguous) a slower\n"
      "change is a candidate, 2 bad input, 130 interrupted. 4 comes before 1, 1 before 3.");
  return {app, [flags] { return ShowHistory(*flags); }};
}

}  // namespace tench
