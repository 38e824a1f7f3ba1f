// SPDX-License-Identifier: Apache-2.0
// `tench run`: one cell, once, in its own process.
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/live_line.h"
#include "cli/measure_flags.h"
#include "cli/names.h"
#include "measure/host.h"
#include "report/profile_text.h"
#include "report/record_json.h"
#include "report/run_text.h"
#include "run/worker_process.h"
#include "store/store.h"

namespace tench {
namespace {

struct RunFlags {
  AxisFlags axes;
  MeasureFlags measure;
  std::string database;
  bool json = false, loss_curve = false, verbose = false, profile = false;
};

Result<PlannedCell> Plan(const RunFlags& flags, const Catalog& names) {
  PlannedCell planned;
  planned.cell = TENCH_TRY(flags.axes.ToCell());
  if (planned.cell.Text(kAxisWorker).empty())
    return Failed("--worker is missing; one of {}", Join(names.workers, ", "));
  if (planned.cell.Text(kAxisNetwork).empty())
    return Failed("--network is missing; one of {}", Join(names.networks, ", "));
  TENCH_TRY(ResolveCell(names, planned.cell));
  planned.id = planned.cell.Id();
  planned.budget = TENCH_TRY(flags.measure.ToBudget());
  planned.limits = TENCH_TRY(flags.measure.ToLimits());
  return planned;
}

Result<int> Run(const RunFlags& flags) {
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const PlannedCell planned = TENCH_TRY(Plan(flags, KnownNames(workers)));
  // Opened first: an unwritable file must not cost the run.
  std::optional<Store> store;
  if (!flags.database.empty()) store.emplace(TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite)));

  const HostFacts host = ReadHost();
  const RunRequest request{planned, 0, 0, 0, host.machine, host.machine_id, flags.profile};
  RunResult result;
  Interrupt interrupt;
  {
    LiveLine line;
    const auto show = [&](const RunProgress& progress) {
      line.Show(ProgressText(planned.cell, progress.stage, progress.steps, progress.last_step_ns, progress.loss,
                             progress.rss_bytes, progress.elapsed_ns));
    };
    result = Execute(workers, request, show, interrupt.signal());
  }
  if (store) result.record.id = TENCH_TRY(store->AddRun(result.record, result.series));

  if (flags.json) {
    fmt::print("{}\n", RecordToJson(result.record, &result.series).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}", RunText(result.record, flags.verbose));
    if (!result.profile.empty()) fmt::print("\n{}", ProfileText(result.profile));
    if (flags.loss_curve) fmt::print("{}", LossCurveText(result.series));
    if (flags.verbose && !result.series.log.empty()) fmt::print("\nThe worker's own output:\n{}\n", result.series.log);
  }
  if (result.record.outcome == Outcome::kInterrupted) return 130;
  return result.record.outcome == Outcome::kOk ? 0 : 1;
}

}  // namespace

Command AddRunCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("run", "One run of one cell in its own process");
  auto flags = std::make_shared<RunFlags>();
  flags->axes.AddTo(*app);
  flags->measure.AddTo(*app);
  app->add_flag("--loss-curve", flags->loss_curve, "print the loss of every step")->group("Output");
  app->add_flag("--json", flags->json, "print the whole record, every step included, as JSON")->group("Output");
  app->add_flag("--verbose", flags->verbose, "also print libraries, environment, the worker's choices and its log")
      ->group("Output");
  app->add_flag("--profile", flags->profile, "print what each kernel of each layer costs (workers that can tell)")
      ->group("Output");
  app->add_option("--db", flags->database, "also store the run in this file")->group("Output")->type_name("");
  app->footer("Exit code: 0 the run was ok, 1 it had another outcome, 2 bad input, 130 interrupted.");
  return {app, [flags] { return Run(*flags); }};
}

}  // namespace tench
