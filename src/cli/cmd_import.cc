// SPDX-License-Identifier: Apache-2.0
// `tench import`: adds logs of earlier trainings to a store as runs.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/live_line.h"
#include "data/data_set.h"
#include "logs/caffe_facts.h"
#include "logs/import/log_import.h"
#include "logs/thesis_steps.h"
#include "machine/host.h"
#include "net/zoo/zoo.h"
#include "store/store.h"

namespace tench {
namespace {

constexpr size_t kMaxLogBytes = size_t{1} << 30;

struct ImportFlags {
  std::vector<std::string> caffe, tensorflow, thesis;
  AxisFlags axes;
  std::string database = kDefaultDatabase;
  std::string machine = "imported";
  bool here = false, machine_given = false;
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

// What the content of a log says about its run.
struct ImportFacts {
  CaffeFacts caffe;
  std::string framework;
};

Status SetRates(const AxisFlags& flags, const CaffeFacts& facts, Cell& cell) {
  const auto set = [&](const char* axis, const std::optional<double>& value) -> Status {
    return value && !flags.Given(axis) ? cell.Set(axis, fmt::format("{}", *value)) : Ok();
  };
  TENCH_TRY(set("lr", facts.lr));
  TENCH_TRY(set("momentum", facts.momentum));
  TENCH_TRY(set("weight_decay", facts.weight_decay));
  if (facts.threads > 0 && !flags.Given("threads"))
    return cell.Set("threads", std::to_string(facts.threads));
  return Ok();
}

// Flags come first, then the content, then the file name, which is asked only for what is missing.
Result<Cell> CellOfLog(const ImportFlags& flags, const std::filesystem::path& file,
                       const ImportFacts& facts) {
  Cell cell = TENCH_TRY(flags.axes.ToCell());
  const CaffeFacts& caffe = facts.caffe;
  if (!flags.axes.Given("worker")) TENCH_TRY(cell.Set("worker", facts.framework));
  TENCH_TRY(SetRates(flags.axes, caffe, cell).In(file.string()));
  std::string network = ZooName(caffe.network), device = caffe.device;
  int64_t batch = caffe.batch;
  const Result<LogName> name = ParseLogName(file.filename().string());
  const bool complete = (!network.empty() || flags.axes.Given("network")) &&
                        (!device.empty() || flags.axes.Given("device")) &&
                        (batch > 0 || flags.axes.Given("batch"));
  if (!complete && !name.ok()) return name.error();
  // A network of the zoo under another name in the log is known by the file name.
  if (name.ok() && (network.empty() || (!IsInZoo(network) && IsInZoo(ZooName(name->network)))))
    network = ZooName(name->network);
  if (device.empty() && name.ok()) device = name->mode == "CPU" ? "cpu" : "gpu";
  if (batch == 0 && name.ok()) batch = name->batch;
  if (!flags.axes.Given("network")) TENCH_TRY(cell.Set("network", network));
  if (!flags.axes.Given("device")) TENCH_TRY(cell.Set("device", device));
  if (!flags.axes.Given("batch"))
    TENCH_TRY(cell.Set("batch", fmt::format("{}", batch)).In(file.string()));
  const Phase phase = caffe.timing ? Phase::kGradient : Phase::kTrain;
  if (flags.axes.Given("phase") && cell.phase() != phase)
    return Failed("--phase: the log of {} has the phase {}; remove the flag",
                  caffe.timing ? "caffe time" : "a training", Name(phase));
  TENCH_TRY(cell.Set("phase", std::string(Name(phase))));
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
  const size_t files = flags.caffe.size() + flags.tensorflow.size() + flags.thesis.size();
  const auto add = [&](const std::string& file, Result<RunResult> result) -> Status {
    line.Show(CountedProgress(runs.size(), std::max(files, runs.size()), Printable(file)));
    RunResult run = TENCH_TRY(std::move(result));
    std::string key = ImportKey(run.record).value_or("");
    runs.push_back({file, std::move(run), std::move(key)});
    return Ok();
  };
  for (const std::string& file : flags.caffe) {
    ImportFacts facts{ReadCaffeFacts(TENCH_TRY(ReadFile(file, kMaxLogBytes))), ""};
    facts.framework = facts.caffe.worker.empty() ? "caffe" : facts.caffe.worker;
    import.format = facts.caffe.timing ? LogFormat::kCaffeTime : LogFormat::kCaffe;
    import.file = file;
    import.cell = TENCH_TRY(CellOfLog(flags, file, facts));
    TENCH_TRY(add(file, ImportLog(import)));
  }
  for (const std::string& file : flags.tensorflow) {
    import.format = LogFormat::kTensorflow;
    import.file = file;
    import.cell = TENCH_TRY(CellOfLog(flags, file, {{}, "tensorflow"}));
    TENCH_TRY(add(file, ImportLog(import)));
  }
  for (const std::string& file : flags.thesis) {
    const std::string text = TENCH_TRY(ReadFile(file, kMaxLogBytes));
    const std::filesystem::path path(file);
    const Result<ThesisFile> name = ParseThesisName(path.filename().string());
    const bool named = flags.axes.Given("worker") && (flags.machine_given || flags.here);
    if (!named && !name.ok()) return name.error();
    LogImport thesis = import;
    thesis.format = LogFormat::kThesis;
    thesis.file = file;
    if (!flags.machine_given && !flags.here) {
      thesis.machine = name->machine;
      thesis.machine_id = Hex64(Hash64("imported from " + thesis.machine));
    }
    for (const ThesisTraining& training : TENCH_TRY(ReadThesisSteps(text, file))) {
      ImportFacts facts;
      facts.framework = name.ok() ? name->library : "";
      facts.caffe.network = training.network;
      facts.caffe.device = training.mode == "CPU" ? "cpu" : "gpu";
      facts.caffe.batch = training.batch;
      thesis.cell = TENCH_TRY(CellOfLog(flags, file, facts));
      TENCH_TRY(add(file, ImportSteps(thesis, training.log, text,
                                      fmt::format("#{},{},{:03}", training.network, training.mode,
                                                  training.batch))));
    }
  }
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
  if (flags.caffe.empty() && flags.tensorflow.empty() && flags.thesis.empty())
    return Failed(
        "no log was given: use --caffe-log FILE…, --tensorflow-log FILE… or --thesis-csv FILE…");
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
                  "logs of `caffe train`, `caffe time` or `tench train`")
      ->type_name("");
  app->add_option(
         "--tensorflow-log", flags->tensorflow,
         "logs of TensorFlow slim's training loop, named train_{network}_{mode}_{batch}.log")
      ->type_name("");
  app->add_option("--thesis-csv", flags->thesis,
                  "steps of the 2017 study, named loss_{machine}_{library}.csv")
      ->type_name("");
  app->add_option("--machine", flags->machine,
                  "name of the machine that wrote the logs [imported, or the CSV's]")
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
                    "Facts that the logs lack; these flags override the log and the file name");
  app->footer(
      "A file with the same name and content is imported only once. Runs get the flag `imported`\n"
      "and count as another machine's, unless --here is given.\n"
      "  tench import --caffe-log logs/train_*.log --machine titan --threads 8 --db old.db");
  return {app, [flags, app] {
            flags->machine_given = app->count("--machine") > 0;
            return Import(*flags);
          }};
}

}  // namespace tench
