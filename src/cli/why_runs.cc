// SPDX-License-Identifier: Apache-2.0
#include "cli/why_runs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "cli/live_line.h"
#include "machine/ceilings.h"
#include "profile/census_builder.h"
#include "record/run_flag.h"
#include "run/session/run_cell.h"
#include "stats/welch.h"

namespace tench {
namespace {

void AddRun(const RunRecord& run, const Census& census, SideRuns& side) {
  if (run.outcome != Outcome::kOk || !run.summary.step_ns_mean) return;
  side.threads = run.threads;
  if (!HasFlag(run.flags, kFlagProfiled)) {
    side.plain_ns.push_back(*run.summary.step_ns_mean);
    return;
  }
  if (census.steps == 0) return;
  side.censuses.push_back(census);
  side.profiled_ns.push_back(*run.summary.step_ns_mean);
  if (run.summary.cpu_per_wall) side.cpu_per_wall.push_back(*run.summary.cpu_per_wall);
  side.version = run.worker_version;
  side.command = run.reproducer + " --profile";
}

std::optional<double> Mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ProfiledSide ProfileOf(const SideRuns& side, const std::string& name) {
  return {name, Merged(side.censuses), *Mean(side.profiled_ns)};
}

WhySide FactsOf(const SideRuns& side) {
  return {side.version,
          side.command,
          Mean(side.plain_ns),
          Mean(side.cpu_per_wall),
          static_cast<int64_t>(side.censuses.size()),
          static_cast<int64_t>(side.plain_ns.size())};
}

// Measured once per number of threads.
class MeasuredCeilings {
 public:
  const std::vector<Ceiling>& Of(int64_t threads) {
    const auto [found, fresh] = ceilings_.try_emplace(threads);
    if (fresh) found->second = MeasureCeilings(ReadCpu(), std::array{threads});
    return found->second;
  }

 private:
  std::map<int64_t, std::vector<Ceiling>> ceilings_;
};

}  // namespace

Result<SideRuns> StoredRuns(Store& store, const std::string& cell_id,
                            const std::string& machine_id) {
  const RunFilter filter{.study = {}, .cell_id = cell_id, .run = {}, .replaced = false};
  std::vector<RunRecord> runs;
  std::string build;
  bool profiled = false;
  TENCH_TRY(store.ForEachRun(filter, [&](const RunRecord& run) {
    if (run.machine_id != machine_id || run.outcome != Outcome::kOk) return true;
    if (HasFlag(run.flags, kFlagProfiled)) {
      profiled = true;
      build = run.build;
    }
    runs.push_back(run);
    return true;
  }));
  SideRuns side;
  if (!profiled) return side;
  for (const RunRecord& run : runs) {
    if (run.build != build) continue;
    Census census;
    if (HasFlag(run.flags, kFlagProfiled)) census = TENCH_TRY(store.Series(run.id)).census;
    AddRun(run, census, side);
  }
  return side;
}

Result<WhyRounds> MakeRuns(WorkerCatalog& workers, const RunRequest& a, const RunRequest& b,
                           int64_t rounds, Store* store, StopToken stop) {
  WhyRounds made;
  MeasuredCeilings ceilings;
  LiveLine line;
  constexpr size_t kRuns = 4;  // of a round: bit 0 is the side, bit 1 whether it is profiled
  for (int64_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kRuns; ++i) {
      const size_t which = (i + static_cast<size_t>(round)) % kRuns;
      RunRequest request = which % 2 == 0 ? a : b;
      request.round = round;
      request.profile = which / 2 == 1;
      line.Show(CountedProgress(
          static_cast<size_t>(round) * kRuns + i, static_cast<size_t>(rounds) * kRuns,
          request.planned.cell.Label() + (request.profile ? ", profiled" : "")));
      RunResult result = RunCell(workers, request, nullptr, stop);
      if (result.series.census.steps > 0)
        result.series.census.ceilings = ceilings.Of(result.record.threads);
      if (store != nullptr) TENCH_TRY(store->AddRun(result.record, result.series));
      if (result.record.outcome != Outcome::kOk) {
        made.failed = {result.record.outcome,
                       fmt::format("{}: {}{}{}", request.planned.cell.Text(kAxisWorker),
                                   Name(result.record.outcome),
                                   result.record.reason.empty() ? "" : ": ", result.record.reason)};
        return made;
      }
      AddRun(result.record, result.series.census, which % 2 == 0 ? made.a : made.b);
    }
  }
  return made;
}

Why Explain(const SideRuns& a, const std::string& a_name, const SideRuns& b,
            const std::string& b_name) {
  Why why;
  why.alignment = AlignProfiles(ProfileOf(a, a_name), ProfileOf(b, b_name));
  why.a = FactsOf(a);
  why.b = FactsOf(b);
  why.threads = std::max(a.threads, b.threads);
  why.plain_difference_ns = MeanDifference(a.plain_ns, b.plain_ns);
  for (const SideRuns* side : {&a, &b}) {
    if (why.ceilings.empty()) why.ceilings = side->censuses.front().ceilings;
  }
  why.causes = LeadingCauses(why.alignment);
  why.commands.resize(why.causes.size());
  return why;
}

}  // namespace tench
