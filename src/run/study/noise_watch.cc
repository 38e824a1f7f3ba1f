// SPDX-License-Identifier: Apache-2.0
#include "run/study/noise_watch.h"

#include <algorithm>

#include "plan/matrix.h"
#include "stats/slice.h"

namespace tench {
namespace {

constexpr int64_t kMostRepetitions = 6;

std::vector<NoiseReadings> SliceNoise(const RunRecord& run) {
  const Result<SliceSet> slices = SliceSet::Decode(run.summary.slices);
  return slices.ok() ? slices->noise() : std::vector<NoiseReadings>();
}

}  // namespace

void NoiseWatch::Learn(const RunRecord& run) {
  if (run.outcome == Outcome::kInterrupted) return;
  profile_.Add(run.summary.noise());
  RepetitionRuns& runs = rounds_[{run.round, ComparedGroup(run.cell)}][run.repetition];
  runs.finished.insert(run.cell_id);
  runs.wall_ns += run.summary.wall_ns;
  if (run.outcome != Outcome::kOk) return;
  const OkRun ok{run.id, run.summary.noise(), run.summary.step_ns_min.value_or(0),
                 run.summary.wall_ns, SliceNoise(run)};
  runs.ok[run.cell_id] = ok;
  ok_.emplace_back(run.cell_id, ok);
  if (!run.summary.step_ns_min) return;
  CellSteps& steps = steps_[run.cell_id];
  steps.shortest_ns.push_back(*run.summary.step_ns_min);
  steps.usual_ns = UsualShortest(steps.shortest_ns);
}

RunNoise NoiseWatch::NoiseOf(const std::string& cell, const OkRun& run) const {
  const auto known = steps_.find(cell);
  const double usual_ns = known == steps_.end() ? 0 : known->second.usual_ns;
  return profile_.Judge(run.readings, run.slices, run.shortest_ns, usual_ns);
}

std::vector<NoiseWatch::Judgement> NoiseWatch::Judgements() const {
  std::vector<Judgement> judgements;
  for (const auto& [cell, run] : ok_) {
    const RunNoise noise = NoiseOf(cell, run);
    judgements.push_back({run.id, noise.slow(), noise.disturbed()});
  }
  return judgements;
}

bool NoiseWatch::Disturbed(const RunRecord& run) const {
  return NoiseOf(run.cell_id, {run.id, run.summary.noise(), 0, 0, SliceNoise(run)}).disturbed();
}

int64_t NoiseWatch::DisturbedRounds() const {
  int64_t count = 0;
  for (const auto& [key, repetitions] : rounds_) {
    const RepetitionRuns& last = repetitions.rbegin()->second;
    count += std::count_if(last.ok.begin(), last.ok.end(), [&](const auto& run) {
      return NoiseOf(run.first, run.second).disturbed();
    });
  }
  return count;
}

int64_t NoiseWatch::Repetition(int64_t round, const std::string& group) const {
  const auto known = rounds_.find({round, group});
  return known == rounds_.end() ? 0 : known->second.rbegin()->first;
}

bool NoiseWatch::AnyDisturbed(const RepetitionRuns& runs) const {
  return std::any_of(runs.ok.begin(), runs.ok.end(),
                     [&](const auto& run) { return NoiseOf(run.first, run.second).disturbed(); });
}

double NoiseWatch::ExpectedRepeatShare() const {
  double planned_ns = 0, disturbed_ns = 0;
  for (const auto& [key, repetitions] : rounds_) {
    const RepetitionRuns& first = repetitions.begin()->second;
    planned_ns += static_cast<double>(first.wall_ns);
    if (AnyDisturbed(first)) disturbed_ns += static_cast<double>(first.wall_ns);
  }
  const double calm_ns = planned_ns - disturbed_ns;
  // The sum of a geometric series: repeats of repeats.
  return disturbed_ns > calm_ns * kMostRepeatShare ? kMostRepeatShare
                                                   : disturbed_ns / std::max(calm_ns, 1.0);
}

std::vector<NoiseWatch::Repeat> NoiseWatch::Repeats() const {
  double planned_ns = 0, repeated_ns = 0;
  std::vector<Repeat> repeats;
  std::vector<std::pair<int64_t, Repeat>> disturbed;  // by the time of the round's last repetition
  for (const auto& [key, repetitions] : rounds_) {
    for (const auto& [repetition, runs] : repetitions)
      (repetition > 0 ? repeated_ns : planned_ns) += static_cast<double>(runs.wall_ns);
    const auto& [number, last] = *repetitions.rbegin();
    const auto before =
        repetitions.size() > 1 ? std::prev(repetitions.end(), 2) : repetitions.end();
    Repeat rest{key.first, number, {}};
    if (before != repetitions.end()) {
      for (const auto& [cell, run] : before->second.ok) {
        if (!last.finished.contains(cell)) rest.cells.push_back(cell);
      }
    }
    if (!rest.cells.empty()) {
      repeats.push_back(std::move(rest));
      continue;
    }
    Repeat whole{key.first, number + 1, {}};
    int64_t wall_ns = 0;
    for (const auto& [cell, run] : last.ok) {
      wall_ns += run.wall_ns;
      whole.cells.push_back(cell);
    }
    if (number < kMostRepetitions && AnyDisturbed(last))
      disturbed.emplace_back(wall_ns, std::move(whole));
  }
  std::stable_sort(disturbed.begin(), disturbed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  double left_ns = planned_ns * kMostRepeatShare - repeated_ns;
  for (auto& [wall_ns, repeat] : disturbed) {
    left_ns -= static_cast<double>(wall_ns);
    if (left_ns < 0) break;
    repeats.push_back(std::move(repeat));
  }
  return repeats;
}

}  // namespace tench
