// SPDX-License-Identifier: Apache-2.0
// `tench import`: adds logs of earlier trainings to a store as runs.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/live_line.h"
#include "data/data_set.h"
#include "logs/import/log_import.h"
#include "machine/host.h"
#include "net/zoo/zoo.h"
#include "store/store.h"

namespace tench {
namespace {

struct ImportFlags {
  std::vector<std::string> caffe, tensorflow;
  AxisFlags axes;
  std::string database = kDefaultDatabase;
  std::string machine = "imported";
  bool here = false;
  int64_t warmup_steps = 0;
};

// "AlexNet" is the zoo's alexnet; a name that the zoo lacks is kept and ranked separately.
std::string ZooName(const std::string& name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const ZooEntry& entry : Zoo()) {
    if (std::equal(name.begin(), name.end(), entry.name.begin(), entry.name.end(), same))
      return entry.name;
  }
  return name;
}

bool IsInZoo(const std::string& name) {
  return std::any_of(Zoo().begin(), Zoo().end(),
                     [&](const ZooEntry& entry) { return entry.name == name; });
}

Result<Cell> CellOfLog(const ImportFlags& flags, const std::filesystem::path& file,
                       std::string_view framework) {
  Cell cell = TENCH_TRY(flags.axes.ToCell());
  if (!flags.axes.Given("worker")) TENCH_TRY(cell.Set("worker", framework));
  if (!flags.axes.Given("network") || !flags.axes.Given("device") || !flags.axes.Given("batch")) {
    const LogName name = TENCH_TRY(ParseLogName(file.filename().string()));
    if (!flags.axes.Given("network")) TENCH_TRY(cell.Set("network", ZooName(name.network)));
    if (!flags.axes.Given("device"))
      TENCH_TRY(cell.Set("device", name.mode == "CPU" ? "cpu" : "gpu"));
    if (!flags.axes.Given("batch"))
      TENCH_TRY(cell.Set("batch", fmt::format("{}", name.batch)).In(file.string()));
  }
  if (cell.phase() != Phase::kTrain)
    return Failed("--phase: the log of a training has the phase train; remove the flag");
  // A cell is the same with and without the network's default data set, as in a sweep.
  if (IsInZoo(cell.Text(kAxisNetwork))) {
    const std::string data = TENCH_TRY(ResolveData(cell.Text(kAxisNetwork), cell.Text(kAxisData)));
    TENCH_TRY(cell.Set("data", data));
  }
  return cell;
}

struct NewRun {
  std::filesystem::path file;
  RunResult result;
  std::string key;
};

Result<std::vector<NewRun>> ReadLogs(const ImportFlags& flags) {
  LogImport import;
  import.warmup_steps = flags.warmup_steps;
  import.machine = flags.machine;
  import.machine_id = Hex64(Hash64("imported from " + flags.machine));
  if (flags.here) {
    const HostFacts host = ReadHost();
    import.machine = host.machine;
    import.machine_id = host.machine_id;
  }
  std::vector<NewRun> runs;
  LiveLine line;
  const auto read = [&](const std::vector<std::string>& files, LogFormat format,
                        std::string_view framework) -> Status {
    for (const std::string& file : files) {
      line.Show(CountedProgress(runs.size(), flags.caffe.size() + flags.tensorflow.size(),
                                Printable(file)));
      import.format = format;
      import.file = file;
      import.cell = TENCH_TRY(CellOfLog(flags, file, framework));
      RunResult result = TENCH_TRY(ImportLog(import));
      std::string key = ImportKey(result.record).value_or("");
      runs.push_back({file, std::move(result), std::move(key)});
    }
    return Ok();
  };
  TENCH_TRY(read(flags.caffe, LogFormat::kCaffe, "caffe"));
  TENCH_TRY(read(flags.tensorflow, LogFormat::kTensorflow, "tensorflow"));
  return runs;
}

std::string Told(const NewRun& run) {
  const RunRecord& record = run.result.record;
  const RunSummary& summary = record.summary;
  std::string text = fmt::format("{}: run {}: {} {} batch {} {}, {}", run.file.string(), record.id,
                                 record.cell.Text(kAxisWorker), record.cell.Text(kAxisNetwork),
                                 record.cell.Integer(kAxisBatch), record.cell.Text(kAxisDevice),
                                 Name(record.outcome));
  if (summary.step_ns_median)
    text += fmt::format(", {} steps of {}", summary.steps, HumanNs(*summary.step_ns_median));
  if (summary.first_loss)
    text += fmt::format(", loss {:.6g} -> {:.6g}", *summary.first_loss, *summary.last_loss);
  return text;
}

// Search and insertion are one transaction: all files or none, and no file twice, even with
// concurrent commands.
Status AddNewRuns(Store& store, std::vector<NewRun>& runs, std::vector<std::string>& lines,
                  int64_t& added) {
  std::map<std::string, int64_t> known;
  TENCH_TRY(store.ForEachRun({}, [&](const RunRecord& run) {
    if (const auto key = ImportKey(run)) known.emplace(*key, run.id);
    return true;
  }));
  for (NewRun& run : runs) {
    if (const auto found = known.find(run.key); found != known.end()) {
      lines.push_back(
          fmt::format("{}: already imported as run {}", run.file.string(), found->second));
      continue;
    }
    run.result.record.id = TENCH_TRY(store.AddRun(run.result.record, run.result.series));
    known.emplace(run.key, run.result.record.id);
    lines.push_back(Told(run));
    ++added;
  }
  return Ok();
}

void NoteUnknownNetworks(const std::vector<NewRun>& runs) {
  std::vector<std::string> noted;
  for (const NewRun& run : runs) {
    const std::string& network = run.result.record.cell.Text(kAxisNetwork);
    if (IsInZoo(network) || std::find(noted.begin(), noted.end(), network) != noted.end()) continue;
    noted.push_back(network);
    fmt::print(stderr,
               "note: the zoo has no network '{}', so its runs are ranked separately; --network "
               "sets another name\n",
               Printable(network));
  }
}

Result<int> Import(const ImportFlags& flags) {
  if (flags.caffe.empty() && flags.tensorflow.empty())
    return Failed("no log was given: use --caffe-log FILE… or --tensorflow-log FILE…");
  std::vector<NewRun> runs = TENCH_TRY(ReadLogs(flags).In("nothing was imported"));
  Store store = TENCH_TRY(Store::Open(flags.database, Store::Mode::kReadWrite));
  std::vector<std::string> lines;
  int64_t added = 0;
  TENCH_TRY(store.InOneTransaction([&] { return AddNewRuns(store, runs, lines, added); }));
  for (const std::string& line : lines) fmt::print("{}\n", line);
  fmt::print("{} of {} log{} imported into {}\n", added, runs.size(), runs.size() == 1 ? "" : "s",
             flags.database);
  NoteUnknownNetworks(runs);
  return 0;
}

}  // namespace

Command AddImportCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("import", "Import logs of earlier trainings as runs");
  auto flags = std::make_shared<ImportFlags>();
  app->add_option("--caffe-log", flags->caffe,
                  "logs of `caffe train`, named train_{network}_{mode}_{batch}.log")
      ->type_name("");
  app->add_option("--tensorflow-log", flags->tensorflow,
                  "logs of TensorFlow slim's training loop, with the same form of name")
      ->type_name("");
  app->add_option("--machine", flags->machine, "name of the machine that wrote the logs [imported]")
      ->type_name("");
  app->add_flag("--here", flags->here, "the logs are from this machine: rank them with its runs")
      ->excludes("--machine");
  app->add_option("--warmup", flags->warmup_steps,
                  "number of leading steps to exclude [0, as in the 2017 study]")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40).description(""))
      ->type_name("");
  app->add_option("--db", flags->database,
                  fmt::format("results file, created if missing [{}]", kDefaultDatabase))
      ->type_name("");
  flags->axes.AddTo(*app,
                    "Facts that the logs lack (network, device and batch override the file name)");
  app->footer(
      "A file with the same name and content is imported only once. Runs get the flag `imported`\n"
      "and count as another machine's, unless --here is given.\n"
      "  tench import --caffe-log logs/train_*.log --machine titan --threads 8 --db old.db");
  return {app, [flags] { return Import(*flags); }};
}

}  // namespace tench
