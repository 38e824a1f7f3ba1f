// SPDX-License-Identifier: Apache-2.0
// `tench sweep`: a suite as a study, resumable.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/sweep_progress.h"
#include "plan/matrix.h"
#include "plan/suite.h"
#include "protocol/missing_fact.h"
#include "run/study/runner.h"
#include "store/store.h"

namespace tench {
namespace {

struct SweepFlags {
  std::string suite, database = kDefaultDatabase, machine;
  int64_t rounds = 0;
  std::vector<std::string> only;
  bool dry_run = false, fresh = false, installed = false, unverified = false;
  bool no_sentinel = false, no_repeat = false;
};

struct SweepPlan {
  StudyRequest request;
  std::set<std::string> absent;  // workers that are known but not installed
};

// The entry of a worker that is installed, otherwise null.
const WorkerEntry* FindInstalled(const WorkerCatalog& workers, const WorkerName& worker) {
  const Result<const WorkerEntry*> entry = workers.Find(worker.name);
  return entry.ok() && (*entry)->installed() ? *entry : nullptr;
}

// Whether it is installed and finds what it drives; a worker that does not answer is kept, so that
// its runs say why.
bool IsReady(WorkerCatalog& workers, const WorkerName& worker) {
  const WorkerEntry* entry = FindInstalled(workers, worker);
  if (entry == nullptr) return false;
  const Result<Description> description = workers.Describe(*entry, worker.version);
  return !description.ok() || !description->facts.contains(kMissingFact);
}

std::string Plural(size_t count, std::string_view noun, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? noun : plural);
}
std::string Plural(size_t count, const std::string& noun) {
  return Plural(count, noun, noun + "s");
}

Result<SweepPlan> Plan(const SweepFlags& flags, WorkerCatalog& workers) {
  const Suite suite = TENCH_TRY(LoadSuite(flags.suite, SuiteFolders()));
  const CellFilter filter = TENCH_TRY(ParseFilter(flags.only).In("--only"));
  SweepPlan plan;
  plan.request.suite = suite.name;
  plan.request.suite_fingerprint = suite.fingerprint;
  std::vector<std::string> terms = flags.only;
  std::sort(terms.begin(), terms.end());
  if (flags.installed) terms.push_back("installed");
  plan.request.filter = Join(terms, ";");
  plan.request.rounds = flags.rounds > 0 ? flags.rounds : suite.rounds;
  plan.request.fresh = flags.fresh;
  plan.request.machine = flags.machine;
  plan.request.sentinel = !flags.no_sentinel;
  plan.request.repeat = !flags.no_sentinel && !flags.no_repeat;
  plan.request.verify = !flags.unverified;
  plan.request.sketch_folders = SketchFolders();
  plan.request.readers = FileReaders();
  plan.request.cells = TENCH_TRY(Expand(suite, KnownNames(workers)));
  std::map<std::string, bool> ready;  // each worker is asked once, however many cells it has
  const auto is_ready = [&](const std::string& worker) {
    const auto [known, is_new] = ready.try_emplace(worker);
    if (is_new) known->second = IsReady(workers, WorkerName::Of(worker));
    return known->second;
  };
  std::erase_if(plan.request.cells, [&](const PlannedCell& cell) {
    return !filter.Matches(cell.cell) ||
           (flags.installed && !is_ready(cell.cell.Text(kAxisWorker)));
  });
  if (plan.request.cells.empty()) {
    return Failed("{}: no cell is left{}", suite.origin,
                  plan.request.filter.empty() ? "" : " of " + plan.request.filter);
  }
  for (const PlannedCell& cell : plan.request.cells) {
    const WorkerName worker = WorkerName::Of(cell.cell.Text(kAxisWorker));
    if (FindInstalled(workers, worker) == nullptr) plan.absent.insert(worker.name);
  }
  return plan;
}

void PrintPlan(const SweepPlan& plan) {
  for (const PlannedCell& cell : plan.request.cells)
    fmt::print("{}  {}\n", cell.id, cell.cell.Label());
  fmt::print("{} x {} = {}\n", Plural(plan.request.cells.size(), "cell"),
             Plural(plan.request.rounds, "round"),
             Plural(plan.request.cells.size() * plan.request.rounds, "run"));
}

Result<int> Sweep(const SweepFlags& flags) {
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const SweepPlan plan = TENCH_TRY(Plan(flags, workers));
  if (!plan.absent.empty()) {
    fmt::print(stderr,
               "not installed, so their cells will be `unsupported`: {} (tench doctor says how to "
               "get them)\n",
               fmt::join(plan.absent, ", "));
  }
  if (flags.dry_run) {
    PrintPlan(plan);
    return 0;
  }
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite));
  Interrupt interrupt;
  SweepProgress progress;
  const StudyResult result =
      TENCH_TRY(RunStudy(store, workers, plan.request, progress, interrupt.stop()));
  progress.Close();
  if (result.already_complete) {
    fmt::print(
        stderr,
        "study {} is complete; nothing was run (--new starts another, --rounds adds to it)\n",
        result.study);
    return 0;
  }
  std::vector<std::string> counts;
  for (const auto& [outcome, count] : progress.outcomes())
    counts.push_back(fmt::format("{} {}", count, Name(outcome)));
  fmt::print(stderr, "study {}: {} now ({})\n", result.study, Plural(result.runs, "run"),
             Join(counts, ", "));
  if (result.repeats > 0)
    fmt::print(stderr, "{} of them again, because the machine was disturbed\n", result.repeats);
  if (result.disturbed > 0) {
    fmt::print(stderr,
               "the machine was disturbed: {} without an undisturbed run; a quiet machine gives "
               "narrower intervals (tench doctor)\n",
               Plural(static_cast<size_t>(result.disturbed), "round of a cell", "rounds of cells"));
  }
  if (result.interrupted) {
    fmt::print(stderr, "interrupted; the same command goes on from here\n");
    return 130;
  }
  fmt::print(stderr, "see: tench results --db {} --study {}\n", ShellQuote(flags.database),
             result.study);
  return 0;
}

}  // namespace

Command AddSweepCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("sweep", "The matrix of a suite, in shuffled rounds, resumable");
  auto flags = std::make_shared<SweepFlags>();
  app->add_option("suite", flags->suite, "a YAML file, or the name of a suite (tench list suites)")
      ->required()
      ->type_name("");
  app->add_option("--db", flags->database, "the store [tench.db]")->type_name("");
  app->add_option("--rounds", flags->rounds, "rounds instead of the suite's own number")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}).description(""));
  app->add_option("--only", flags->only,
                  "keep the cells that match, e.g. --only network=lenet,mlp --only batch=64")
      ->type_name("")
      ->take_all();
  app->add_option("--machine", flags->machine, "the label of this machine [host name]")
      ->type_name("");
  app->add_flag("--installed", flags->installed,
                "leave out workers that are not installed or miss what they drive, instead of "
                "storing them as unsupported");
  app->add_flag("--no-verify", flags->unverified,
                "measure without checking first that each worker computes the right thing");
  app->add_flag(
      "--no-sentinel", flags->no_sentinel,
      "do not time the noise sentinel (a few ms of fixed work) before and after every run");
  app->add_flag(
      "--no-repeat", flags->no_repeat,
      "do not repeat disturbed runs at the end (otherwise at most a fifth of all runs is)");
  app->add_flag("--dry-run", flags->dry_run, "list the cells and stop");
  app->add_flag("--new", flags->fresh, "begin a study of its own, even if one could go on");
  app->footer(
      "Stopped by Ctrl-C, a kill or a power cut, the same command goes on where it stopped.\n"
      "A failed run is data: it does not change the exit code. Exit code: 0 done, 2 bad input, 130 "
      "interrupted.");
  return {app, [flags] { return Sweep(*flags); }};
}

}  // namespace tench
