// SPDX-License-Identifier: Apache-2.0
// `tench verify`: does every worker compute what `reference` computes?
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "data/data_set.h"
#include "machine/affinity.h"
#include "net/zoo/zoo.h"
#include "report/text_table.h"
#include "run/session/run_cell.h"
#include "run/verify/verifier.h"

namespace tench {
namespace {

struct VerifyFlags {
  std::vector<std::string> workers, networks;
  std::string data, sketches;
  int64_t batch = 4, threads = 0;
  bool json = false;
};

struct Item {
  SubjectName name;
  Subject subject;
};

Result<Item> MakeItem(const VerifyFlags& flags, const std::string& network) {
  Item item;
  item.name = {network, TENCH_TRY(ResolveData(network, flags.data))};
  item.subject.network = TENCH_TRY(LoadNetwork(network, flags.data, 0, FileReaders()));
  item.subject.batch = flags.batch;
  item.subject.threads =
      flags.threads > 0 ? flags.threads : static_cast<int64_t>(AllowedCpus().size());
  TENCH_TRY(Infer(item.subject.network, flags.batch));
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
               "left out, since reference would need minutes and no sketches are there: {} "
               "(--network names one)\n",
               Join(left_out, ", "));
  }
  if (items.empty()) return Failed("no network is left to verify");
  return items;
}

Result<std::vector<std::string>> Workers(const VerifyFlags& flags, const WorkerCatalog& catalog) {
  if (!flags.workers.empty()) {
    for (const std::string& name : flags.workers)
      TENCH_TRY(catalog.Find(WorkerName::Of(name).name));
    return flags.workers;
  }
  std::vector<std::string> names;
  for (const WorkerEntry& entry : catalog.entries())
    if (entry.installed() && entry.name != "reference") names.push_back(entry.name);
  if (names.empty())
    return Failed("no worker but reference is installed (tench doctor says how to get others)");
  return names;
}

std::string ResultText(const Verification& one) {
  return one.outcome == Outcome::kOk ? "verified" : Name(one.outcome);
}

Json ToJson(const Verification& one, int64_t batch) {
  Json furthest = Json::array();
  for (const auto& [trial, deviation] : one.furthest) {
    furthest.push_back({{"trial", trial},
                        {"what", deviation.what},
                        {"difference", RealToJson(deviation.difference)},
                        {"allowance", RealToJson(deviation.allowance)}});
  }
  return {{"worker", one.worker},
          {"version", one.version},
          {"network", one.subject.network},
          {"data", one.subject.data},
          {"batch", batch},
          {"outcome", Name(one.outcome)},
          {"verified", one.outcome == Outcome::kOk},
          {"worst_over_allowance", RealToJson(one.worst)},
          {"worst_tensor", one.worst_tensor},
          {"first_layer", one.first_layer},
          {"reason", one.reason},
          {"furthest", furthest},
          {"wall_ns", one.wall_ns}};
}

std::string Render(const std::vector<Verification>& all) {
  TextTable table({{"worker"},
                   {"version"},
                   {"network"},
                   {"parity"},
                   {"worst/allowed", Align::kRight},
                   {"time", Align::kRight},
                   {"where"}});
  for (const Verification& one : all) {
    const bool compared = one.outcome == Outcome::kOk || one.outcome == Outcome::kWrong;
    table.AddRow({one.worker, one.version, one.subject.Label(), ResultText(one),
                  compared ? fmt::format("{:.3g}", one.worst) : "-",
                  HumanNs(static_cast<double>(one.wall_ns)), one.Summary()});
  }
  return table.Render();
}

Result<int> WriteSketches(const VerifyFlags& flags, const std::vector<Item>& items,
                          ReferenceAnswers& answers) {
  LiveLine line;
  for (const Item& item : items) {
    const auto show = [&](const std::string& doing) {
      line.Show(item.name.Label() + ": " + doing);
      if (!line.terminal()) line.Print(item.name.Label() + ": " + doing);
    };
    TENCH_TRY(answers.WriteSketches(item.name, item.subject, flags.sketches, show));
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
          TENCH_TRY(verifier.Verify(worker, item.name, item.subject, [&](const std::string& doing) {
            line.Show(counted + ": " + doing);
          }));
      if (interrupt.stop().stop_requested()) return 130;
      if (!line.terminal()) line.Print(fmt::format("{}: {}", counted, ResultText(one)));
      good = good && (one.outcome == Outcome::kOk || one.outcome == Outcome::kUnsupported);
      json.push_back(ToJson(one, item.subject.batch));
      all.push_back(std::move(one));
    }
  }
  line.Clear();
  fmt::print("{}", flags.json ? PrintJson(json, 2) + "\n" : Render(all));
  return good ? 0 : 1;
}

}  // namespace

Command AddVerifyCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("verify", "Whether every worker computes what reference computes");
  auto flags = std::make_shared<VerifyFlags>();
  app->add_option("--worker", flags->workers,
                  "workers to check, with a version where they serve several: tensorflow@2.15 [all "
                  "that are installed]")
      ->type_name("")
      ->take_all();
  app->add_option("--network", flags->networks,
                  "networks to check them on [all that reference can afford]")
      ->type_name("")
      ->take_all();
  app->add_option("--data", flags->data, "the data set [the network's own]")->type_name("");
  app->add_option("--batch", flags->batch, "samples per step [4]")
      ->type_name("")
      ->check(CLI::Range(int64_t{2}, int64_t{4096}));
  app->add_option("--threads", flags->threads, "threads of the worker; 0 = every CPU [0]")
      ->type_name("")
      ->check(CLI::Range(int64_t{0}, int64_t{4096}));
  app->add_flag("--json", flags->json, "print JSON");
  app->add_option("--write-sketches", flags->sketches,
                  "run reference alone and write its answers into this folder")
      ->type_name("");
  app->footer(
      "Exit code: 0 when nothing is wrong (unsupported is no fault), 1 when something is, 2 bad "
      "input, 130 interrupted.");
  return {app, [flags] { return Verify(*flags); }};
}

}  // namespace tench
