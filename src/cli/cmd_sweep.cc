// SPDX-License-Identifier: Apache-2.0
// `tench sweep`: runs a suite as a resumable study.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "base/plural.h"
#include "base/text.h"
#include "cli/added_workers.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_events.h"
#include "cli/python_flag.h"
#include "cli/sweep_gate.h"
#include "cli/sweep_progress.h"
#include "plan/axis_override.h"
#include "plan/matrix.h"
#include "plan/suite.h"
#include "protocol/missing_fact.h"
#include "report/group_answer.h"
#include "run/session/worker_environment.h"
#include "run/study/runner.h"
#include "store/store.h"

namespace tench {
namespace {

constexpr const char* kAllWorkers = "all";
constexpr size_t kMaxAnswers = 20;  // of the closing ranking

struct SweepFlags {
  std::string suite, database = kDefaultDatabase, machine, pairing;
  int64_t rounds = 0;
  std::vector<std::string> only, set, environment, workers;
  bool dry_run = false, fresh = false, retry_failed = false, installed = false, unverified = false;
  bool no_sentinel = false, no_repeat = false;
  PythonFlag python;
  SweepGate gate;
};

struct SweepPlan {
  StudyRequest request;
  std::set<std::string> absent;  // known but not installed workers
};

// The entry of an installed worker, otherwise null.
const WorkerEntry* FindInstalled(const WorkerCatalog& workers, const WorkerName& worker) {
  const Result<const WorkerEntry*> entry = workers.Find(worker.name);
  return entry.ok() && (*entry)->installed() ? *entry : nullptr;
}

// Whether the worker and the program that it drives are installed. A worker that does not answer
// counts as ready, so that its runs state the reason.
bool IsReady(WorkerCatalog& workers, const WorkerName& worker) {
  const WorkerEntry* entry = FindInstalled(workers, worker);
  if (entry == nullptr) return false;
  const Result<Description> description = workers.Describe(*entry, worker.version);
  return !description.ok() || !description->facts.contains(kMissingFact);
}

// The names of --workers; all of them are those that are installed, without the oracle, and the
// frameworks of the environments. These join also if no others are named.
std::vector<std::string> WorkersToAdd(const SweepFlags& flags, const Suite& suite,
                                      WorkerCatalog& workers,
                                      const std::vector<PythonEnvironment>& environments,
                                      std::set<std::string>& left_out) {
  const auto frameworks = [&] {
    EnvironmentFrameworks found = FrameworksOf(workers, environments);
    left_out.merge(found.left_out);
    return found.workers;
  };
  if (flags.workers.empty() && suite.python.empty()) return frameworks();
  std::vector<std::string> names;
  for (const std::string& name : flags.workers) {
    if (name != kAllWorkers) {
      names.push_back(name);
      continue;
    }
    for (const WorkerEntry& entry : workers.entries()) {
      const bool elsewhere = entry.python && !environments.empty();
      if (entry.installed() && entry.name != "reference" && !elsewhere) names.push_back(entry.name);
    }
    const std::vector<std::string> found = frameworks();
    names.insert(names.end(), found.begin(), found.end());
  }
  return names;
}

// Moves the suite's workers in Python into the environments of the user.
Result<std::vector<PythonEnvironment>> UsePython(const SweepFlags& flags, WorkerCatalog& workers,
                                                 Suite& suite, std::set<std::string>& left_out) {
  const std::vector<PythonEnvironment> environments =
      TENCH_TRY(flags.python.Use(workers, suite.python, suite.origin));
  const std::vector<std::string> added =
      WorkersToAdd(flags, suite, workers, environments, left_out);
  const std::vector<std::string> known = PythonWorkers(workers);
  const bool searched = flags.python.given() && flags.workers.empty() && suite.python.empty();
  if (searched && added.empty() && !left_out.empty())
    return Failed("--python: {}", *left_out.begin());
  if (searched && added.empty())
    return Failed(
        "--python: {} has no framework that tench can run ({}); install one with {} -m "
        "pip install",
        environments.front().interpreter.string(), Join(known, ", "),
        environments.front().interpreter.string());
  AddWorkers(added, suite);
  RunInEnvironments(NamesOf(environments), known, suite);
  return environments;
}

// An environment without the framework is a mistake of the suite or of the command, unlike a worker
// that is not installed.
Status CheckFrameworks(const Suite& suite, const std::vector<PlannedCell>& cells,
                       WorkerCatalog& workers, const std::vector<PythonEnvironment>& environments) {
  std::set<std::string> used;
  for (const PlannedCell& planned : cells) used.insert(planned.cell.Text(kAxisWorker));
  for (const std::string& worker : used) {
    const Status found = CheckFramework(worker, workers, environments);
    if (found.ok()) continue;
    for (const Block& block : suite.blocks) {
      for (const AxisList& list : block.axes) {
        const auto at = std::ranges::find(list.values, worker);
        if (list.name != Axes()[kAxisWorker].name || at == list.values.end()) continue;
        return FailedAt(suite.origin, list.places[at - list.values.begin()],
                        "{}; --installed skips it", found.error().message);
      }
    }
    return found;
  }
  return Ok();
}

// Makes the workers of the suite's table known to the catalog, and to the processes and reproducers
// of this sweep.
Status UseWorkerTable(const Suite& suite) {
  const char* worker_path = std::getenv("TENCH_WORKER_PATH");
  const Environment variables = TENCH_TRY(
      TableEnvironment(suite.workers, worker_path != nullptr ? worker_path : "").In(suite.origin));
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  return Ok();
}

Result<SweepPlan> Plan(const SweepFlags& flags, Suite suite, WorkerCatalog& workers) {
  std::set<std::string> left_out;
  const std::vector<PythonEnvironment> environments =
      TENCH_TRY(UsePython(flags, workers, suite, left_out));
  const CellFilter filter = TENCH_TRY(ParseFilter(flags.only).In("--only"));
  SweepPlan plan;
  plan.request.suite = suite.name;
  plan.request.suite_fingerprint = suite.fingerprint;
  plan.request.suite_text = suite.text;
  std::vector<std::string> terms = flags.only;
  std::sort(terms.begin(), terms.end());
  if (flags.installed) terms.push_back("installed");
  for (const std::string& text : flags.set) terms.push_back("--set " + text);
  for (const std::string& variable : flags.environment) terms.push_back("--env " + variable);
  for (const std::string& worker : flags.workers) terms.push_back("--workers " + worker);
  plan.request.pairing = suite.pairing;
  if (!flags.pairing.empty())
    plan.request.pairing = TENCH_TRY(ParsePairing(flags.pairing).In("--pairing"));
  if (plan.request.pairing != suite.pairing)
    terms.push_back("--pairing " + Name(plan.request.pairing));
  if (suite.python.empty() || flags.python.given())
    for (const std::string& name : NamesOf(environments)) terms.push_back("--python " + name);
  plan.request.filter = Join(terms, ";");
  plan.request.rounds = flags.rounds > 0 ? flags.rounds : suite.rounds;
  plan.request.fresh = flags.fresh;
  plan.request.retry_failed = flags.retry_failed;
  plan.request.machine = flags.machine;
  plan.request.sentinel = !flags.no_sentinel;
  plan.request.repeat = !flags.no_sentinel && !flags.no_repeat;
  plan.request.peak = true;
  plan.request.verify = !flags.unverified;
  plan.request.sketch_folders = SketchFolders();
  plan.request.readers = FileReaders();
  plan.request.cells = TENCH_TRY(Expand(suite, KnownNames(workers)));
  for (PlannedCell& planned : plan.request.cells) {
    TENCH_TRY(SetEnvironment(flags.environment, planned.cell));
    planned.id = planned.cell.Id();
  }
  std::map<std::string, bool> ready;  // each worker is queried once, not per cell
  const auto is_ready = [&](const std::string& worker) {
    const auto [known, is_new] = ready.try_emplace(worker);
    if (!is_new) return known->second;
    known->second = IsReady(workers, WorkerName::Of(worker));
    const Status loads = known->second ? CheckFramework(worker, workers, environments) : Ok();
    if (loads.ok()) return known->second;
    left_out.insert(loads.error().message);
    return known->second = false;
  };
  std::erase_if(plan.request.cells, [&](const PlannedCell& cell) {
    return !filter.Matches(cell.cell) ||
           (flags.installed && !is_ready(cell.cell.Text(kAxisWorker)));
  });
  if (plan.request.cells.empty()) {
    return Failed("{}: no cell is left{}", suite.origin,
                  plan.request.filter.empty() ? "" : " of " + plan.request.filter);
  }
  TENCH_TRY(CheckFrameworks(suite, plan.request.cells, workers, environments));
  PrintLeftOut(left_out);
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
  TENCH_TRY(flags.gate.Check());
  RemoveAbandonedRunFolders();
  Suite suite = TENCH_TRY(LoadSuite(flags.suite, SuiteFolders()));
  TENCH_TRY(OverrideAxes(flags.set, suite).In("--set"));
  TENCH_TRY(UseWorkerTable(suite));
  WorkerCatalog workers = WorkerCatalog::Discover();
  const SweepPlan plan = TENCH_TRY(Plan(flags, suite, workers));
  if (!plan.absent.empty()) {
    fmt::print(stderr, "not installed, so their cells are `unsupported`: {} (see tench doctor)\n",
               fmt::join(plan.absent, ", "));
  }
  if (flags.dry_run) {
    PrintPlan(plan);
    return 0;
  }
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite));
  Interrupt interrupt;
  SweepProgress progress;
  LiveEvents events(progress, flags.database, plan.request.rounds);
  const StudyResult result =
      TENCH_TRY(RunStudy(store, workers, plan.request, events, interrupt.stop()));
  progress.Close();
  if (result.study == 0) {
    fmt::print(stderr, "interrupted before the study began\n");
    return kExitInterrupted;
  }
  if (result.disagreeing > 0) {
    fmt::print(stderr, "the losses of workers disagree: {} `wrong`\n",
               Plural(result.disagreeing, "run is", "runs are"));
  }
  if (result.already_complete) {
    fmt::print(stderr,
               "study {} is complete; nothing to run (--new begins another, --rounds extends it, "
               "--retry-failed repeats failed runs)\n",
               result.study);
    return flags.gate.Judge(store, flags.database, result.study);
  }
  std::vector<std::string> counts;
  for (const auto& [outcome, count] : progress.outcomes())
    counts.push_back(fmt::format("{} {}", count, Name(outcome)));
  fmt::print(stderr, "study {}: {} now ({})\n", result.study, Plural(result.runs, "run"),
             Join(counts, ", "));
  if (result.tuned > 0)
    fmt::print(stderr, "{} tuned in {}, {:.0f} % of the time\n", Plural(result.tuned, "cell"),
               HumanNs(static_cast<double>(result.tune_ns)),
               100 * static_cast<double>(result.tune_ns) / static_cast<double>(result.wall_ns));
  if (result.repeats > 0) fmt::print(stderr, "{} of them repeat disturbed runs\n", result.repeats);
  if (result.disturbed > 0) {
    fmt::print(stderr,
               "the machine was disturbed: {} without an undisturbed run (tench doctor lists "
               "sources of noise)\n",
               Plural(result.disturbed, "round of a cell", "rounds of cells"));
  }
  if (result.interrupted) {
    fmt::print(stderr, "interrupted; the same command resumes the study\n");
    return kExitInterrupted;
  }
  RankOptions options;
  options.studies = {result.study};
  const Ranking ranking = TENCH_TRY(Rank(store, options));
  for (const std::string& line : AnswerLines(ranking, kMaxAnswers))
    fmt::print(stderr, "{}\n", line);
  fmt::print(stderr, "see: tench results --db {} --study {}\n", ShellQuote(flags.database),
             result.study);
  return flags.gate.Judge(store, flags.database, result.study);
}

}  // namespace

Command AddSweepCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("sweep", "Run all cells of a suite in shuffled rounds; resumable");
  auto flags = std::make_shared<SweepFlags>();
  app->add_option("suite", flags->suite, "a YAML file, or the name of a suite (tench list suites)")
      ->required()
      ->type_name("");
  app->add_option("--db", flags->database, "results file [tench.db]")->type_name("");
  app->add_option("--rounds", flags->rounds, "number of rounds [the suite's]")
      ->type_name("")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}).description(""));
  app->add_option("--pairing", flags->pairing,
                  "turns: the workers of a comparison stay resident and run alternating slices; "
                  "rounds: one after the other [the suite's]")
      ->type_name("");
  app->add_option("--only", flags->only,
                  "run only matching cells, e.g. --only network=lenet,mlp --only batch=64")
      ->type_name("")
      ->take_all();
  app->add_option("--set", flags->set,
                  "replace the suite's values of an axis, e.g. --set data=folder:photos --set "
                  "batch=16 --set batch=32")
      ->type_name("")
      ->take_all();
  app->add_option("--workers", flags->workers,
                  "measure these workers too, wherever the suite compares several; all: every "
                  "installed one")
      ->type_name("")
      ->delimiter(',')
      ->take_all();
  flags->python.AddTo(*app);
  AddEnvironmentFlag(*app, flags->environment);
  app->add_option("--machine", flags->machine, "label of this machine [host name]")->type_name("");
  app->add_flag("--installed", flags->installed,
                "skip workers that cannot run here, instead of storing them as unsupported");
  app->add_flag("--no-verify", flags->unverified,
                "do not check the parity of each worker before its first timed run");
  app->add_flag("--no-sentinel", flags->no_sentinel,
                "do not time the noise sentinel before and after every run");
  app->add_flag("--no-repeat", flags->no_repeat,
                "do not repeat disturbed rounds at the end (at most a third of the study's time)");
  app->add_flag("--dry-run", flags->dry_run, "list the cells and exit");
  app->add_flag("--new", flags->fresh, "begin a new study instead of resuming one");
  app->add_flag("--retry-failed", flags->retry_failed,
                "run failed cells of the resumed study again, even under the same conditions");
  flags->gate.AddTo(*app);
  app->footer(
      "After Ctrl-C, a kill or a power cut, the same command resumes the study. After a worker "
      "was\n"
      "rebuilt, it begins a new study. Failed runs are stored and change the exit code only with\n"
      "--fail-on failed. They are retried when the installed workers, the memory, the CPUs or the "
      "GPUs\n"
      "differ. --fail-on slower or ambiguous compares the study with --baseline:\n"
      "  tench sweep gate.yaml --fail-on slower,failed                     with the study before "
      "it\n"
      "  tench sweep gate.yaml --fail-on slower,failed --baseline base     with its own worker "
      "base\n"
      "  tench sweep gate.yaml --fail-on slower,failed --baseline main.db  with another file\n"
      "Exit code: 0 done, 4 failed runs, 1 slower, 3 ambiguous, 2 bad input, 130 interrupted.");
  return {app, [flags] { return Sweep(*flags); }};
}

}  // namespace tench
