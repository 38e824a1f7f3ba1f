// SPDX-License-Identifier: Apache-2.0
// `tench run`: one run of one cell, in its own process.
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/caffe_weights.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "cli/measure_flags.h"
#include "cli/output_terminal.h"
#include "cli/python_flag.h"
#include "cli/shape_flag.h"
#include "cli/single_run.h"
#include "cli/trace_flags.h"
#include "net/caffe/solver_file.h"
#include "net/solver_name.h"
#include "report/profile_text.h"
#include "report/record_json.h"
#include "report/run_text.h"
#include "report/tuning_text.h"
#include "run/session/busy_watch.h"
#include "run/session/run_cell.h"
#include "run/study/cell_tuner.h"
#include "store/store.h"

namespace tench {
namespace {

struct RunFlags {
  AxisFlags axes;
  PythonFlag python;
  MeasureFlags measure;
  TraceFlags trace;
  std::string database, solver, weights, shape;
  bool json = false, loss_curve = false, verbose = false, profile = false;
  bool no_sentinel = false;
};

// Takes from the solver file what no flag sets: the network, its batch, the optimizer, rates.
Status TakeSolver(const RunFlags& flags, const CaffeSolver& solver, Cell& cell) {
  if (solver.solver.iter_size > 1)
    return Failed("{}: iter_size is {}; `tench run` times steps of one batch: use `tench train`",
                  flags.solver, solver.solver.iter_size);
  if (cell.Text(kAxisNetwork).empty()) {
    const std::string path = NetworkPath(solver, flags.solver);
    if (path.empty())
      return Failed("{}: the network is inline; `tench run` needs it in a file (field `net`)",
                    flags.solver);
    TENCH_TRY(cell.Set("network", path));
    // The shape may follow from the data, so any shape will do for the batch size.
    Result<CaffeNetwork> network = ReadPrototxtFile(path, solver.state);
    if (!network.ok()) {
      Result<CaffeNetwork> shaped = ReadPrototxtFile(path, solver.state, kAnyImage);
      if (shaped.ok()) network = std::move(shaped);
    }
    if (!network.ok()) return std::move(network).error();
    if (!flags.axes.Given("batch") && network->batch > 0)
      TENCH_TRY(cell.Set("batch", std::to_string(network->batch)));
  }
  const std::pair<const char*, double> rates[] = {{"lr", solver.solver.lr},
                                                  {"momentum", solver.solver.momentum},
                                                  {"weight_decay", solver.solver.weight_decay}};
  for (const auto& [axis, value] : rates) {
    if (!flags.axes.Given(axis)) TENCH_TRY(cell.Set(axis, fmt::format("{}", value)));
  }
  const std::pair<const char*, std::string> names[] = {
      {"optimizer", ToString(OptimizerOf(solver.solver))},
      {"lr_policy", RatePolicyText(solver.rate)}};
  for (const auto& [axis, value] : names) {
    if (!flags.axes.Given(axis)) TENCH_TRY(cell.Set(axis, value).In(flags.solver));
  }
  if (solver.random_seed && !flags.axes.Given("seed"))
    TENCH_TRY(cell.Set("seed", std::to_string(*solver.random_seed)));
  return Ok();
}

// Adds to the job what a cell cannot express: weights, which are in `folder`.
Status Amend(const RunFlags& flags, const std::optional<CaffeSolver>& solver,
             const std::filesystem::path& folder, RunRequest& request) {
  const Cell& cell = request.planned.cell;
  std::map<std::string, std::string> load;
  if (!flags.weights.empty()) {
    const Graph graph = TENCH_TRY(LoadNetwork(cell.Text(kAxisNetwork), cell.Text(kAxisData),
                                              cell.Integer(kAxisLength), request.readers));
    const CaffeNames names = TENCH_TRY(CaffeNamesOf(cell.Text(kAxisNetwork), graph));
    const WeightFiles files = TENCH_TRY(UnpackWeights(flags.weights, graph, names, folder));
    for (const std::string& note : files.notes) fmt::print(stderr, "tench: note: {}\n", note);
    load = files.load;
    request.amendment += " --weights " + ShellQuote(flags.weights);
  }
  if (!flags.shape.empty()) request.amendment += " --shape " + ShellQuote(flags.shape);
  // Its state selects the layers of the network.
  if (solver) request.amendment += " --solver " + ShellQuote(flags.solver);
  request.amend = [load](Job& job) -> Status {
    job.tensors.load.insert(load.begin(), load.end());
    return Ok();
  };
  return Ok();
}

Result<PlannedCell> Plan(const RunFlags& flags, const Catalog& names, WorkerCatalog& workers,
                         const std::optional<CaffeSolver>& solver) {
  PlannedCell planned;
  planned.cell = TENCH_TRY(flags.axes.ToCell());
  if (solver) TENCH_TRY(TakeSolver(flags, *solver, planned.cell));
  if (planned.cell.Text(kAxisWorker).empty())
    return Failed("--worker is missing; one of {}", Join(names.workers, ", "));
  if (planned.cell.Text(kAxisNetwork).empty())
    return Failed("--network is missing; one of {}", Join(names.networks, ", "));
  TENCH_TRY(ResolveCell(names, planned.cell));
  const std::string worker =
      TENCH_TRY(OneInEnvironment(planned.cell.Text(kAxisWorker), workers, flags.python));
  TENCH_TRY(planned.cell.Set(Axes()[kAxisWorker].name, worker));
  planned.id = planned.cell.Id();
  planned.budget = TENCH_TRY(flags.measure.ToBudget());
  TENCH_TRY(ResolveTestData(names, planned.cell, planned.budget).In("--test-data"));
  planned.limits = TENCH_TRY(flags.measure.ToLimits());
  return planned;
}

TuningRecord Tune(WorkerCatalog& workers, const RunRequest& request, StopToken stop) {
  TuningRecord tuning;
  {
    LiveLine line;
    tuning = CellTuner(workers, stop).Tune(request, [&](const TuningProgress& progress) {
      line.Show(fmt::format("tuning, trial {} of at most {}: {}", progress.trial, progress.trials,
                            progress.candidate));
    });
  }
  for (const std::string& line : TuningLines(tuning)) fmt::print(stderr, "{}\n", line);
  return tuning;
}

Result<int> Run(const RunFlags& flags) {
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  std::optional<CaffeSolver> solver;
  if (!flags.solver.empty()) solver = TENCH_TRY(ReadSolverFile(flags.solver));
  const Shape shape = TENCH_TRY(ParseShapeFlag(flags.shape));
  const NetworkReaders readers = FileReaders(solver ? solver->state : CaffeState{}, shape);
  const PlannedCell planned = TENCH_TRY(Plan(flags, KnownNames(workers, readers), workers, solver));
  const std::optional<TraceRequest> trace = TENCH_TRY(flags.trace.Request(planned.budget));
  // The store is opened first, so that an unwritable file does not cost a run.
  std::optional<Store> store;
  if (!flags.database.empty())
    store.emplace(TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite)));

  Interrupt interrupt;
  const auto build = BuildOf(workers, planned.cell.Text(kAxisWorker), interrupt.stop());
  RunRequest request = SingleRun(planned, readers, build.get());
  request.profile = flags.profile || trace;
  request.trace = trace;
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-weights-"));
  TENCH_TRY(Amend(flags, solver, folder.path(), request));
  TuningRecord tuning;
  if (planned.cell.Text(kAxisTuned) == "yes") {
    tuning = Tune(workers, request, interrupt.stop());
    if (!interrupt.stop().stop_requested()) request.tuning = &tuning;
  }
  RunResult result;
  std::optional<BusyWatch> watch;
  if (!flags.no_sentinel) watch.emplace();
  {
    LiveLine line;
    const auto show = [&](const RunProgress& progress) {
      line.Show(ProgressText(planned.cell, progress.stage, progress.steps, progress.last_step_ns,
                             progress.loss, progress.rss_bytes, progress.elapsed_ns));
    };
    result = RunCell(workers, request, show, interrupt.stop());
  }
  std::vector<std::string> warnings;
  if (watch && result.record.summary.hello_ns) warnings = watch->Finish(result.record);
  if (build != nullptr && !build->Unchanged())
    return Failed("{} was rebuilt while it ran; the run is not kept",
                  planned.cell.Text(kAxisWorker));
  if (trace && result.record.outcome == Outcome::kOk)
    TENCH_TRY(flags.trace.Write(result.trace, planned.cell.Label()));
  if (store) result.record.id = TENCH_TRY(store->AddRun(result.record, result.series));

  if (flags.json) {
    fmt::print("{}\n", RecordToJson(result.record, &result.series)
                           .dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}", RunText(result.record, flags.verbose, OutputWidth()));
    if (!result.profile.empty()) fmt::print("\n{}", ProfileText(result.profile));
    if (flags.loss_curve) fmt::print("{}", LossCurveText(result.series));
    if (flags.verbose && !result.series.log.empty())
      fmt::print("\nOutput of the worker:\n{}\n", result.series.log);
  }
  if (!warnings.empty()) {
    std::fflush(stdout);
    fmt::print(stderr,
               "warning: the machine was busy ({}); the times may be too long (tench doctor lists "
               "the sources)\n",
               Join(warnings, "; "));
  }
  if (result.record.outcome == Outcome::kInterrupted) return kExitInterrupted;
  return result.record.outcome == Outcome::kOk ? kExitOk : kExitFailedRuns;
}

}  // namespace

Command AddRunCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("run", "Run one cell once, in its own process");
  auto flags = std::make_shared<RunFlags>();
  flags->axes.AddTo(*app);
  flags->python.AddTo(*app, "What to run");
  flags->measure.AddTo(*app);
  app->add_option("--solver", flags->solver,
                  "Caffe solver file: network, batch, optimizer and schedule; flags override it")
      ->group("What to run")
      ->type_name("");
  AddShapeFlag(*app, flags->shape)->group("What to run");
  app->add_option("--weights", flags->weights,
                  "initial weights: a .caffemodel, matched by layer name")
      ->group("What to run")
      ->type_name("");
  app->add_flag("--no-sentinel", flags->no_sentinel, "do not check whether the machine is busy")
      ->group("How to measure");
  app->add_flag("--loss-curve", flags->loss_curve, "print the loss of every step")->group("Output");
  app->add_flag("--json", flags->json, "print the whole record with every step as JSON")
      ->group("Output");
  app->add_flag("--verbose", flags->verbose,
                "also print libraries, environment, selected options and the worker's log")
      ->group("Output");
  app->add_flag("--profile", flags->profile,
                "print the time of each kernel of each layer, if the worker supports it")
      ->group("Output");
  flags->trace.AddTo(*app);
  app->add_option("--db", flags->database, "store the run in this results file")
      ->group("Output")
      ->type_name("");
  app->footer(
      "A warning says if other processes, the hypervisor or a low clock disturbed the run.\n"
      "Exit code: 0 outcome ok, 4 any other outcome, 2 bad input, 130 interrupted.");
  return {app, [flags] { return Run(*flags); }};
}

}  // namespace tench
