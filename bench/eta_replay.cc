// SPDX-License-Identifier: Apache-2.0
// Replays stored studies through the time estimate of `tench sweep` (run/study/eta.h), and prints
// the error of the estimate at 20 % of the planned runs: the study's duration over the elapsed time
// plus the estimate. The goal is at most 1.2 in 9 of 10 studies.
//   bench_eta_replay FILE.db…
// A run stores when it began and how long it took. The gap before a cell's first run is its parity
// check, any other gap is overhead. A gap longer than ten minutes is a pause: the study was
// resumed. The exit code is 1 if more than a tenth of the studies exceed the goal.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "record/run_flag.h"
#include "run/study/eta.h"
#include "run/study/noise_watch.h"
#include "store/store.h"

namespace tench {
namespace {

constexpr double kShown = 0.2, kGoal = 1.2;
constexpr double kPauseNs = 600e9;
constexpr int64_t kFewestRuns = 10;

double UtcNs(const std::string& text) {
  tm parts = {};
  if (strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return 0;
  return static_cast<double>(timegm(&parts)) * 1e9;
}

struct Replayed {
  double elapsed_ns = 0, estimate_ns = 0, duration_ns = 0;
  double error() const { return duration_ns / (elapsed_ns + estimate_ns); }
};

Replayed Replay(const StudyRecord& study, const std::vector<RunRecord>& runs) {
  std::vector<PlannedCell> cells;
  std::unordered_map<std::string, size_t> index;
  for (const RunRecord& run : runs) {
    if (!index.emplace(run.cell_id, cells.size()).second) continue;
    PlannedCell planned;
    planned.cell = run.cell;
    planned.id = run.cell_id;
    cells.push_back(planned);
  }
  Eta eta(cells);
  NoiseWatch noise;
  const int64_t planned = study.rounds * static_cast<int64_t>(cells.size());
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    for (int64_t round = 0; round < study.rounds; ++round) eta.AddRemaining(cell);
    eta.ExpectParity(cell);
  }
  Replayed replayed;
  std::set<std::pair<int64_t, std::string>> finished;
  std::set<size_t> seen;
  double end_ns = UtcNs(runs.front().started_utc);
  for (const RunRecord& run : runs) {
    const size_t cell = index.at(run.cell_id);
    double gap_ns = std::max(0.0, UtcNs(run.started_utc) - end_ns);
    if (gap_ns > kPauseNs) gap_ns = 0;
    const auto wall_ns = static_cast<double>(run.summary.wall_ns);
    end_ns = UtcNs(run.started_utc) + wall_ns;
    replayed.duration_ns += gap_ns + wall_ns;
    if (run.outcome == Outcome::kInterrupted) continue;
    if (seen.insert(cell).second) {
      eta.LearnParity(cell, gap_ns);
    } else {
      eta.LearnOverhead(gap_ns);
    }
    eta.Learn(cell, wall_ns);
    noise.Learn(run);
    if (finished.emplace(run.round, run.cell_id).second) eta.RemoveRemaining(cell);
    const auto done = static_cast<double>(finished.size());
    if (replayed.estimate_ns > 0 || done < kShown * static_cast<double>(planned)) continue;
    eta.ExpectRepeats(noise.ExpectedRepeatShare() * static_cast<double>(planned));
    replayed.elapsed_ns = replayed.duration_ns;
    replayed.estimate_ns = eta.RemainingNs();
  }
  return replayed;
}

Result<int> ReplayFile(const std::string& file, int& good, int& all) {
  Store store = TENCH_TRY(Store::Open(file, Store::Mode::kReadOnly));
  for (const StudyRecord& study : TENCH_TRY(store.Studies())) {
    std::vector<RunRecord> runs;
    RunFilter filter;
    filter.study = study.id;
    TENCH_TRY(store.ForEachRun(filter, [&](const RunRecord& run) {
      if (!HasFlag(run.flags, kFlagImported)) runs.push_back(run);
      return true;
    }));
    if (static_cast<int64_t>(runs.size()) < kFewestRuns) continue;
    const Replayed replayed = Replay(study, runs);
    if (replayed.estimate_ns <= 0) continue;
    ++all;
    good += replayed.error() <= kGoal ? 1 : 0;
    fmt::print(
        "{} study {} ({}): {} runs, {:.0f} s; at 20 %: {:.0f} s elapsed, {:.0f} s left; "
        "duration over estimate {:.2f}{}\n",
        file, study.id, study.suite, runs.size(), replayed.duration_ns / 1e9,
        replayed.elapsed_ns / 1e9, replayed.estimate_ns / 1e9, replayed.error(),
        replayed.error() <= kGoal ? "" : " (above the goal)");
  }
  return 0;
}

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  int good = 0, all = 0;
  for (int i = 1; i < argc; ++i) {
    const auto replayed = tench::ReplayFile(argv[i], good, all);
    if (!replayed.ok()) {
      fmt::print(stderr, "bench_eta_replay: {}\n", replayed.error().message);
      return 2;
    }
  }
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_eta_replay FILE.db…\n");
    return 2;
  }
  fmt::print("{} of {} studies are within {}\n", good, all, tench::kGoal);
  return good * 10 >= all * 9 ? 0 : 1;
}
