// SPDX-License-Identifier: Apache-2.0
// `tench verify`: compares every worker with `reference`.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "cli/output_terminal.h"
#include "cli/python_flag.h"
#include "data/data_set.h"
#include "machine/affinity.h"
#include "net/zoo/zoo.h"
#include "record/worker_version.h"
#include "report/text_table.h"
#include "run/session/run_cell.h"
#include "run/session/worker_build.h"
#include "run/verify/verifier.h"

namespace tench {
namespace {

struct VerifyFlags {
  std::vector<std::string> workers, networks, options, environment;
  std::string data, sketches;
  int64_t batch = 4, timed_batch = 16, threads = 0;
  bool json = false;
  PythonFlag python;
};

struct Item {
  SubjectName name;
  Subject subject;
};

Result<Item> MakeItem(const VerifyFlags& flags, const std::string& network) {
  Item item;
  item.name = {network, TENCH_TRY(ResolveData(network, flags.data))};
  Job& job = item.subject.job;
  job.network = TENCH_TRY(LoadNetwork(network, flags.data, 0, FileReaders()));
  job.batch = flags.timed_batch;
  Cell settings;
  TENCH_TRY(SetOptions(flags.options, settings));
  TENCH_TRY(SetEnvironment(flags.environment, settings));
  // Qualified: unity builds have functions of this name in unnamed namespaces.
  job.options = tench::OptionsOf(settings.options);
  job.environment = EnvironmentOf(settings.options);
  job.threads = flags.threads > 0 ? flags.threads : static_cast<int64_t>(AllowedCpus().size());
  item.subject.batch = flags.batch;
  TENCH_TRY(Infer(job.network, flags.batch));
  return item;
}

Result<std::vector<Item>> Items(const VerifyFlags& flags, const ReferenceAnswers& answers) {
  std::vector<Item> items;
  for (const std::string& network : flags.networks)
    items.push_back(TENCH_TRY(MakeItem(flags, network)));
  if (!flags.networks.empty()) return items;
  std::vector<std::string> left_out;
  for (const ZooEntry& entry : Zoo()) {
    const bool fits = flags.data.empty() || std::find(entry.data.begin(), entry.data.end(),
                                                      flags.data) != entry.data.end();
    if (!fits) continue;
    Item item = TENCH_TRY(MakeItem(flags, entry.name));
    if (answers.Affordable(item.name, item.subject)) {
      items.push_back(std::move(item));
    } else {
      left_out.push_back(entry.name);
    }
  }
  if (!left_out.empty()) {
    fmt::print(stderr,
               "skipped, because reference needs minutes and there are no sketches: {} "
               "(--network includes them)\n",
               Join(left_out, ", "));
  }
  if (items.empty()) return Failed("no network is left to verify");
  return items;
}

// All installed workers, or, with --python, the frameworks of the environments.
Result<std::vector<std::string>> Workers(const VerifyFlags& flags, WorkerCatalog& catalog) {
  const std::vector<PythonEnvironment> environments = TENCH_TRY(flags.python.Use(catalog));
  std::vector<std::string> names;
  for (const std::string& name : flags.workers) {
    TENCH_TRY(catalog.Find(WorkerName::Of(name).name));
    for (std::string& worker : InEnvironments(name, catalog, environments)) {
      TENCH_TRY(CheckFramework(worker, catalog, environments));
      names.push_back(std::move(worker));
    }
  }
  if (!flags.workers.empty()) return names;
  EnvironmentFrameworks found = FrameworksOf(catalog, environments);
  names = std::move(found.workers);
  if (flags.python.given() && names.empty() && !found.left_out.empty())
    return Failed("--python: {}", *found.left_out.begin());
  PrintLeftOut(found.left_out);
  if (flags.python.given() && names.empty())
    return Failed("--python: {} has none of {}", environments.front().interpreter.string(),
                  Join(PythonWorkers(catalog), ", "));
  if (flags.python.given()) return names;
  for (const WorkerEntry& entry : catalog.entries()) {
    const bool elsewhere = entry.python && !environments.empty();
    if (entry.installed() && entry.name != "reference" && !elsewhere) names.push_back(entry.name);
  }
  if (names.empty()) return Failed("no worker except reference is installed (see tench doctor)");
  return names;
}

std::string ResultText(const Verification& one) {
  if (one.verified()) return "verified";
  return one.outcome == Outcome::kOk ? "unverified" : Name(one.outcome);
}

// The network's trials, then the timed build at its own batch. The result is the first that fails.
Result<Verification> VerifyBoth(Verifier& verifier, const std::string& worker, const Item& item,
                                const Verifier::Progress& progress) {
  Verification network = TENCH_TRY(verifier.Verify(worker, item.name, item.subject, progress));
  if (!network.verified() || item.subject.job.batch == 0) return network;
  Verification timed = TENCH_TRY(verifier.VerifyTimed(worker, item.name, item.subject, progress));
  timed.wall_ns += network.wall_ns;
  if (timed.outcome != Outcome::kOk) return timed;
  if (network.worst >= timed.worst) {
    timed.worst = network.worst;
    timed.worst_tensor = network.worst_tensor;
  }
  timed.furthest.insert(timed.furthest.end(), network.furthest.begin(), network.furthest.end());
  return timed;
}

// Only of installed workers.
std::map<std::string, std::string> BuildsOf(const std::vector<std::string>& names,
                                            WorkerCatalog& catalog, StopToken stop) {
  std::map<std::string, std::string> builds;
  for (const std::string& worker : names) {
    const auto [name, version] = WorkerName::Of(worker);
    const Result<const WorkerEntry*> entry = catalog.Find(name);
    if (!entry.ok()) continue;
    if (const auto build = catalog.Build(**entry, version, stop); build.ok())
      builds[worker] = (*build)->id;
  }
  return builds;
}

Json ToJson(const Verification& one, const std::string& build, int64_t batch) {
  Json furthest = Json::array();
  for (const auto& [trial, deviation] : one.furthest) {
    furthest.push_back({{"trial", trial},
                        {"what", deviation.what},
                        {"difference", RealToJson(deviation.difference)},
                        {"allowance", RealToJson(deviation.allowance)}});
  }
  return {{"worker", one.worker},
          {"version", one.version},
          {"build", build},
          {"network", one.subject.network},
          {"data", one.subject.data},
          {"batch", batch},
          {"outcome", Name(one.outcome)},
          {"verified", one.verified()},
          {"undiscriminated", one.undiscriminated},
          {"worst_over_allowance", RealToJson(one.worst)},
          {"worst_tensor", one.worst_tensor},
          {"first_layer", one.first_layer},
          {"reason", one.reason},
          {"furthest", furthest},
          {"wall_ns", one.wall_ns}};
}

std::string Render(const std::vector<Verification>& all,
                   std::map<std::string, std::string>& builds) {
  TextTable table({{"worker"},
                   {"version"},
                   {"network"},
                   {"parity"},
                   {"worst/allowed", Align::kRight},
                   {"time", Align::kRight},
                   {"where"}});
  for (const Verification& one : all) {
    const bool compared = one.outcome == Outcome::kOk || one.outcome == Outcome::kWrong;
    const std::string version =
        one.version.empty() ? "" : ShownVersion(one.version, builds[one.worker]);
    table.AddRow({one.worker, version, one.subject.Label(), ResultText(one),
                  compared ? fmt::format("{:.3g}", one.worst) : "-",
                  HumanNs(static_cast<double>(one.wall_ns)), one.Summary()});
  }
  return table.RenderWrapped(OutputWidth());
}

Result<int> WriteSketches(const VerifyFlags& flags, const std::vector<Item>& items,
                          ReferenceAnswers& answers) {
  LiveLine line;
  size_t done = 0;
  for (const Item& item : items) {
    const auto show = [&](const std::string& doing) {
      line.Show(CountedProgress(done, items.size(), item.name.Label() + ": " + doing));
      if (!line.terminal()) line.Print(item.name.Label() + ": " + doing);
    };
    TENCH_TRY(answers.WriteSketches(item.name, item.subject, flags.sketches, show));
    ++done;
  }
  return 0;
}

Result<int> Verify(const VerifyFlags& flags) {
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  Interrupt interrupt;
  ReferenceAnswers answers(
      workers, flags.sketches.empty() ? SketchFolders() : std::vector<std::filesystem::path>{},
      interrupt.stop());
  const std::vector<Item> items = TENCH_TRY(Items(flags, answers));
  if (!flags.sketches.empty()) return WriteSketches(flags, items, answers);

  const std::vector<std::string> names = TENCH_TRY(Workers(flags, workers));
  std::map<std::string, std::string> builds = BuildsOf(names, workers, interrupt.stop());
  Verifier verifier(workers, answers, interrupt.stop());
  LiveLine line;
  std::vector<Verification> all;
  Json json = Json::array();
  bool good = true;
  for (const Item& item : items) {
    for (const std::string& worker : names) {
      const std::string counted =
          fmt::format("[{}/{}] {} on {}", all.size() + 1, items.size() * names.size(), worker,
                      item.name.Label());
      Verification one =
          TENCH_TRY(VerifyBoth(verifier, worker, item, [&](const std::string& doing) {
            line.Show(
                CountedProgress(all.size(), items.size() * names.size(),
                                fmt::format("{} on {}: {}", worker, item.name.Label(), doing)));
          }));
      if (interrupt.stop().stop_requested()) return kExitInterrupted;
      if (!line.terminal()) line.Print(fmt::format("{}: {}", counted, ResultText(one)));
      good = good && (one.outcome == Outcome::kOk || one.outcome == Outcome::kUnsupported);
      json.push_back(ToJson(one, builds[worker], item.subject.batch));
      all.push_back(std::move(one));
    }
  }
  line.Clear();
  fmt::print("{}", flags.json ? PrintJson(json, 2) + "\n" : Render(all, builds));
  return good ? kExitOk : kExitNegative;
}

}  // namespace

Command AddVerifyCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("verify", "Compare the results of every worker with those of reference");
  auto flags = std::make_shared<VerifyFlags>();
  app->add_option("--worker", flags->workers,
                  "workers to check, e.g. torch or tensorflow@2.15 [all installed]")
      ->type_name("")
      ->take_all();
  app->add_option("--network", flags->networks,
                  "networks to check [all that need only seconds, or have sketches]")
      ->type_name("")
      ->take_all();
  app->add_option("--data", flags->data, "data set [the network's default]")->type_name("");
  app->add_option("--batch", flags->batch, "samples per step [4]")
      ->type_name("")
      ->check(CLI::Range(int64_t{2}, int64_t{4096}).description(""));
  app->add_option("--timed-batch", flags->timed_batch,
                  "samples per step of the trial of the timed build; 0 = no such trial [16]")
      ->type_name("")
      ->check(CLI::Range(int64_t{0}, int64_t{4096}).description(""));
  app->add_option("--threads", flags->threads, "threads of the worker; 0 = all CPUs [0]")
      ->type_name("")
      ->check(CLI::Range(int64_t{0}, int64_t{4096}).description(""));
  flags->python.AddTo(*app);
  AddOptionFlag(*app, flags->options);
  AddEnvironmentFlag(*app, flags->environment);
  app->add_flag("--json", flags->json, "print JSON");
  app->add_option("--write-sketches", flags->sketches,
                  "only run reference, and write sketches of its results into this folder")
      ->type_name("");
  app->footer("Exit code: 0 no worker is wrong, 1 at least one is, 2 bad input, 130 interrupted.");
  return {app, [flags] { return Verify(*flags); }};
}

}  // namespace tench
