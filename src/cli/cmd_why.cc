// SPDX-License-Identifier: Apache-2.0
// `tench why`: explains the difference between two workers by their aligned profiles.
#include <memory>

#include "base/plural.h"
#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/measure_flags.h"
#include "cli/output_terminal.h"
#include "cli/program.h"
#include "cli/single_run.h"
#include "cli/why_runs.h"
#include "report/why_text.h"
#include "run/session/run_cell.h"

namespace tench {
namespace {

struct WhyFlags {
  std::string a, b, database, rounds = "5";
  AxisFlags axes;
  MeasureFlags measure;
  bool json = false, markdown = false, fresh = false;
};

// A side is a worker, or terms "axis=value" joined by ';', on top of the flags.
Result<Cell> SideCell(const WhyFlags& flags, const std::string& text) {
  Cell cell = TENCH_TRY(flags.axes.ToCell());
  for (const std::string& part : Split(text, ';')) {
    const std::string term(Trim(part));
    const size_t equals = term.find('=');
    if (equals == std::string::npos) {
      TENCH_TRY(cell.Set("worker", term));
    } else {
      TENCH_TRY(cell.Set(Trim(term.substr(0, equals)), Trim(term.substr(equals + 1))));
    }
  }
  return cell;
}

// Both sides must compute the same step, or layers cannot be aligned.
Status CheckCommon(const Cell& a, const Cell& b) {
  if (a == b) return Failed("A and B are the same cell: {}", a.Label());
  for (const AxisIndex axis : {kAxisNetwork, kAxisData, kAxisBatch, kAxisPhase, kAxisLength}) {
    const Axis& row = Axes()[axis];
    if (a.values[axis] != b.values[axis])
      return Failed("A and B have no common cell: {} is {} and {}", row.name,
                    row.Print(a.values[axis]), row.Print(b.values[axis]));
  }
  for (const Cell* cell : {&a, &b}) {
    if (cell->Text(kAxisTuned) == "yes")
      return Failed("--tuned yes: give the settings that are to be explained as --option instead");
  }
  return Ok();
}

Result<PlannedCell> Plan(const WhyFlags& flags, const Catalog& names, const std::string& side) {
  PlannedCell planned;
  planned.cell = TENCH_TRY(SideCell(flags, side));
  if (planned.cell.Text(kAxisWorker).empty())
    return Failed("'{}' names no worker; one of {}, or --worker for both sides", side,
                  Join(names.workers, ", "));
  if (planned.cell.Text(kAxisNetwork).empty())
    return Failed("--network is missing; one of {}", Join(names.networks, ", "));
  TENCH_TRY(ResolveCell(names, planned.cell));
  planned.id = planned.cell.Id();
  planned.budget = TENCH_TRY(flags.measure.ToBudget());
  planned.limits = TENCH_TRY(flags.measure.ToLimits());
  return planned;
}

std::string FileName(const std::string& layer) {
  std::string name = layer;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '_' && c != '-') c = '_';
  }
  return name + ".json";
}

// Replays one layer in both workers.
std::string ReplayCommand(const WhyFlags& flags, const Cell& cell, const std::string& layer) {
  const std::string file = FileName(layer);
  std::string command = fmt::format("tench show {}", ShellQuote(cell.Text(kAxisNetwork)));
  if (!cell.Text(kAxisData).empty()) command += " --data " + ShellQuote(cell.Text(kAxisData));
  if (cell.Integer(kAxisLength) > 0)
    command += fmt::format(" --length {}", cell.Integer(kAxisLength));
  command += fmt::format(" --layer {} --graph > {} && tench why {} {} --network ./{} --batch {}",
                         ShellQuote(layer), file, ShellQuote(flags.a), ShellQuote(flags.b), file,
                         cell.Integer(kAxisBatch));
  if (cell.Integer(kAxisThreads) > 0)
    command += fmt::format(" --threads {}", cell.Integer(kAxisThreads));
  return command + (cell.phase() == Phase::kForward ? " --phase forward" : " --phase gradient");
}

std::string Title(const Cell& cell, int64_t threads) {
  return fmt::format("{}, batch {}, {}, {}", cell.Text(kAxisNetwork), cell.Integer(kAxisBatch),
                     cell.Text(kAxisPhase), Plural(threads, "thread"));
}

// The stored runs of both sides; incomplete sides unless the file has both.
Result<WhyRounds> FromStore(const WhyFlags& flags, Store& store, const PlannedCell& a,
                            const PlannedCell& b, const std::string& machine_id) {
  WhyRounds stored;
  if (flags.fresh) return stored;
  stored.a = TENCH_TRY(StoredRuns(store, a.id, machine_id));
  stored.b = TENCH_TRY(StoredRuns(store, b.id, machine_id));
  return stored;
}

Result<int> Explained(const WhyFlags& flags) {
  if (flags.json && flags.markdown) return Failed("--json and --markdown exclude each other");
  const Result<int64_t> rounds = ParseInteger(flags.rounds);
  if (!rounds.ok() || *rounds < 1 || *rounds > 1000)
    return Failed("--rounds: '{}' is not an integer from 1 to 1000", flags.rounds);
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const NetworkReaders readers = FileReaders();
  const Catalog names = KnownNames(workers, readers);
  const PlannedCell a = TENCH_TRY(Plan(flags, names, flags.a).In("A"));
  const PlannedCell b = TENCH_TRY(Plan(flags, names, flags.b).In("B"));
  TENCH_TRY(CheckCommon(a.cell, b.cell));
  std::optional<Store> store;
  if (!flags.database.empty())
    store.emplace(TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite)));

  Interrupt interrupt;
  const auto a_build = BuildOf(workers, a.cell.Text(kAxisWorker), interrupt.stop());
  const auto b_build = BuildOf(workers, b.cell.Text(kAxisWorker), interrupt.stop());
  const RunRequest a_request = SingleRun(a, readers, a_build.get());
  const RunRequest b_request = SingleRun(b, readers, b_build.get());
  WhyRounds runs;
  if (store) runs = TENCH_TRY(FromStore(flags, *store, a, b, a_request.machine_id));
  if (!runs.a.complete() || !runs.b.complete())
    runs = TENCH_TRY(MakeRuns(workers, a_request, b_request, *rounds, store ? &*store : nullptr,
                              interrupt.stop()));
  if (runs.failed && runs.failed->outcome == Outcome::kInterrupted) return kExitInterrupted;
  if (runs.failed) {
    FailProgram(runs.failed->message);
    return kExitFailedRuns;
  }
  if (!runs.a.complete() || !runs.b.complete())
    return Failed("{} returned an empty profile", runs.a.complete() ? flags.b : flags.a);

  Why why = Explain(runs.a, flags.a, runs.b, flags.b);
  why.title = Title(a.cell, why.threads);
  for (size_t i = 0; i < why.causes.size(); ++i) {
    if (!why.causes[i].layer.empty())
      why.commands[i] = ReplayCommand(flags, a.cell, why.causes[i].layer);
  }
  if (flags.json) {
    fmt::print("{}\n", PrintJson(WhyToJson(why), 1));
  } else {
    fmt::print("{}", flags.markdown ? RenderWhyMarkdown(why) : RenderWhy(why, OutputWidth()));
  }
  return kExitOk;
}

}  // namespace

Command AddWhyCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "why", "Explain why worker A is faster than B: their profiles, aligned by layer");
  auto flags = std::make_shared<WhyFlags>();
  app->add_option("A", flags->a, "a worker, or axis=value terms joined by ';'")
      ->required()
      ->type_name("");
  app->add_option("B", flags->b, "the side that is compared with A")->required()->type_name("");
  flags->axes.AddTo(*app);
  flags->measure.AddTo(*app);
  app->add_option("--rounds", flags->rounds,
                  "rounds of a profiled and an unprofiled run of both sides [5]")
      ->group("How to measure")
      ->type_name("");
  app->add_option("--db", flags->database,
                  "take profiles from this results file; if it has none, store the new runs there")
      ->group("Output")
      ->type_name("");
  app->add_flag("--fresh", flags->fresh, "measure even if the file has profiles of both sides")
      ->group("Output");
  app->add_flag("--json", flags->json, "print JSON")->group("Output");
  app->add_flag("--markdown", flags->markdown, "print Markdown")->group("Output");
  app->footer(
      "The difference in time per step is decomposed by layer, direction and kernel group. The\n"
      "remainder is the step without its kernels. Profiled runs are never ranked.\n"
      "  tench why native torch --network alexnet --batch 16\n"
      "  tench why 'torch;option.layout=nchw' 'torch;option.layout=channels_last' --network "
      "resnet18\n"
      "Exit code: 0 explained, 4 a run failed, 2 bad input, 130 interrupted.");
  return {app, [flags] { return Explained(*flags); }};
}

}  // namespace tench
