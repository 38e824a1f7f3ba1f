// SPDX-License-Identifier: Apache-2.0
#include "report/thesis_csv.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <map>
#include <numeric>
#include <set>
#include <system_error>

#include "base/file.h"
#include "stats/slice.h"
#include "store/loss_judgement.h"

namespace tench {
namespace {

constexpr std::string_view kLossHeader = "#network,mode,batch,step,loss,time\r\n";
constexpr std::string_view kTimesHeader = "#network,mode,batch,avg_time\r\n";

// The columns of the format that identify a cell, in sort order.
struct LineKey {
  std::string network, mode;
  int64_t batch = 0;

  auto operator<=>(const LineKey&) const = default;
};

struct Candidate {
  int64_t run = 0;              // the newest ok run
  std::string slices;           // of it
  std::set<std::string> cells;  // ids of all cells with this key
};

using FileKey = std::pair<std::string, std::string>;  // machine, worker
using Plan = std::map<FileKey, std::map<LineKey, Candidate>>;

std::string FileNamePart(std::string_view text) {
  std::string part;
  for (const char c : text)
    part +=
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' ? c : '-';
  return part.empty() ? "unnamed" : part;
}

// The format has no quoting.
std::string NetworkName(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ',' || c == '\r' || c == '\n'; }, '_');
  return name;
}

std::string Seconds(double ns) { return fmt::format("{:.9f}", ns / 1e9); }

struct Choice {
  Plan plan;
  int64_t cells_without_ok = 0;
};

Result<Choice> ChooseRuns(Store& store, std::optional<int64_t> study) {
  Choice choice;
  std::set<std::string> ok, all;
  TENCH_TRY(ForEachJudgedRun(store, study, [&](const RunRecord& run) {
    if (run.cell.phase() != Phase::kTrain) return true;
    const std::string machine_and_cell = run.machine_id + '\n' + run.cell_id;
    all.insert(machine_and_cell);
    if (run.outcome != Outcome::kOk || run.summary.steps == 0) return true;
    ok.insert(machine_and_cell);
    const std::string mode = run.cell.Text(kAxisDevice) == "cpu" ? "CPU" : "GPU";
    const LineKey key{NetworkName(run.cell.Text(kAxisNetwork)), mode, run.cell.Integer(kAxisBatch)};
    Candidate& candidate = choice.plan[{run.machine, run.cell.Text(kAxisWorker)}][key];
    candidate.run = run.id;
    candidate.slices = run.summary.slices;
    candidate.cells.insert(machine_and_cell);
    return true;
  }));
  choice.cells_without_ok = static_cast<int64_t>(all.size() - ok.size());
  return choice;
}

// One cell's lines in both files.
Status AppendCell(Store& store, const LineKey& key, const Candidate& candidate, std::string& losses,
                  std::string& times) {
  const int64_t run = candidate.run;
  const SliceSet set = TENCH_TRY(SliceSet::Decode(candidate.slices).In(fmt::format("run {}", run)));
  const RunSeries series = TENCH_TRY(store.Series(run));
  if (series.step_ns.empty()) return Failed("run {} has no steps in the results file", run);
  const std::string prefix = fmt::format("{},{},{:03}", key.network, key.mode, key.batch);
  const size_t steps = series.step_ns.size(), warmups = series.warmup_ns.size();
  if (series.loss.size() == warmups + steps) {
    const std::vector<StepPlace> order = StepOrder(warmups, steps, set);
    for (size_t i = 0; i < order.size(); ++i) {
      if (!order[i].timed) continue;
      losses += fmt::format("{},{},{:.9f},{}\r\n", prefix, order[i].index, series.loss[i],
                            Seconds(static_cast<double>(series.step_ns[order[i].index])));
    }
  } else {
    return Failed("run {} has {} losses for {} steps: the results file is damaged", run,
                  series.loss.size(), warmups + steps);
  }
  const double total = std::accumulate(series.step_ns.begin(), series.step_ns.end(), 0.0);
  times += fmt::format("{},{}\r\n", prefix, Seconds(total / static_cast<double>(steps)));
  return Ok();
}

// Workers whose names differ only in characters that file names exclude get distinct file names.
std::string UniqueName(const FileKey& key, std::set<std::string>& taken) {
  const std::string base = FileNamePart(key.first) + "_" + FileNamePart(key.second);
  std::string name = base;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", base, i);
  return name;
}

Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) std::filesystem::create_directory(folder, error);
  if (error) return Failed("{}: cannot create the folder: {}", folder.string(), error.message());
  return Ok();
}

// A clock of the log's own: the stamps are the sums of the step times.
std::string Stamp(int64_t ns) {
  const int64_t us = ns / 1000, seconds = us / 1'000'000;
  return fmt::format("I20000101 {:02}:{:02}:{:02}.{:06} {:5} ", seconds / 3600 % 24,
                     seconds / 60 % 60, seconds % 60, us % 1'000'000, 1);
}

Result<std::string> LogOf(Store& store, const std::string& worker, const LineKey& key,
                          int64_t run) {
  const RunSeries series = TENCH_TRY(store.Series(run));
  const size_t warmups = series.warmup_ns.size();
  if (series.loss.size() != warmups + series.step_ns.size())
    return Failed("run {} has {} losses for {} steps: the results file is damaged", run,
                  series.loss.size(), warmups + series.step_ns.size());
  std::string log = fmt::format(
      "{0}tench.cpp:1] tench train: worker {1}, network {2}, device {3}, batch {4}\n"
      "{0}solver.cpp:289] Solving {2}\n",
      Stamp(0), worker, key.network, key.mode == "CPU" ? "cpu" : "gpu", key.batch);
  int64_t now = 0;
  for (size_t step = 0; step < series.step_ns.size(); ++step) {
    const int64_t ns = series.step_ns[step];
    now += ns;
    const double seconds = static_cast<double>(ns) / 1e9;
    log += fmt::format(
        "{}solver.cpp:239] Iteration {} ({:.6g} iter/s, {:.9f}s/1 iters), loss = {}\n", Stamp(now),
        step, seconds > 0 ? 1 / seconds : 0, seconds, series.loss[warmups + step]);
  }
  return log + Stamp(now) + "solver.cpp:332] Optimization Done.\n";
}

}  // namespace

Result<ThesisExport> ExportLogs(Store& store, std::optional<int64_t> study,
                                const std::filesystem::path& folder) {
  const Choice choice = TENCH_TRY(ChooseRuns(store, study));
  if (choice.plan.empty()) return Failed("no finished run of the train phase to export");
  TENCH_TRY(MakeFolder(folder));
  ThesisExport done;
  std::set<std::string> taken;
  for (const auto& [file, lines] : choice.plan) {
    const std::string name = UniqueName(file, taken);
    const std::filesystem::path into = choice.plan.size() > 1 ? folder / name : folder;
    TENCH_TRY(MakeFolder(into));
    for (const auto& [key, candidate] : lines) {
      done.files.push_back(into / fmt::format("train_{}_{}_{:03}.log", FileNamePart(key.network),
                                              key.mode, key.batch));
      const std::string log = TENCH_TRY(LogOf(store, file.second, key, candidate.run));
      TENCH_TRY(WriteFileAtomically(done.files.back(), log));
      if (candidate.cells.size() > 1)
        done.notes.push_back(
            fmt::format("{}: of {} cells with this name, run {} was written, as the newest",
                        done.files.back().string(), candidate.cells.size(), candidate.run));
    }
  }
  return done;
}

Result<ThesisExport> ExportThesis(Store& store, std::optional<int64_t> study,
                                  const std::filesystem::path& folder) {
  const Choice choice = TENCH_TRY(ChooseRuns(store, study));
  if (choice.plan.empty()) return Failed("no finished run of the train phase to export");
  TENCH_TRY(MakeFolder(folder));

  ThesisExport done;
  std::set<std::string> taken;
  for (const auto& [file, lines] : choice.plan) {
    std::string losses(kLossHeader), times(kTimesHeader);
    for (const auto& [key, candidate] : lines) {
      TENCH_TRY(AppendCell(store, key, candidate, losses, times));
      if (candidate.cells.size() > 1) {
        done.notes.push_back(
            fmt::format("{} on {}: {} {} batch {} has {} cells that the format cannot tell apart; "
                        "run {} was written, as the "
                        "newest",
                        file.second, file.first, key.network, key.mode, key.batch,
                        candidate.cells.size(), candidate.run));
      }
    }
    const std::string name = UniqueName(file, taken);
    for (const auto& [family, content] :
         {std::pair("loss_", &losses), std::pair("times_", &times)}) {
      done.files.push_back(folder / (family + name + ".csv"));
      TENCH_TRY(WriteFileAtomically(done.files.back(), *content));
    }
  }
  if (choice.cells_without_ok > 0) {
    done.notes.push_back(fmt::format("{} cell{} without an ok run left out",
                                     choice.cells_without_ok,
                                     choice.cells_without_ok == 1 ? "" : "s"));
  }
  return done;
}

}  // namespace tench
