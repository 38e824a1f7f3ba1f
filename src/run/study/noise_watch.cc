// SPDX-License-Identifier: Apache-2.0
#include "run/study/noise_watch.h"

#include <algorithm>

namespace tench {
namespace {

constexpr int64_t kRunsPerOtherRepeat = 10;
constexpr int64_t kMostAttempts = 3, kMostOtherAttempts = 2;

using RoundOfCell = std::pair<int64_t, std::string>;
using Candidates = std::vector<std::pair<double, RoundOfCell>>;

void TakeWorst(Candidates candidates, int64_t most, std::vector<RoundOfCell>& repeats) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& candidate : candidates) {
    if (most-- <= 0) return;
    repeats.push_back(std::move(candidate.second));
  }
}

}  // namespace

void NoiseWatch::Learn(const RunRecord& run) {
  if (run.outcome == Outcome::kInterrupted) return;
  profile_.Add(run.summary.sentinel());
  Attempts& attempts = attempts_[{run.round, run.cell_id}];
  ++attempts.finished;
  if (run.outcome != Outcome::kOk) return;
  attempts.ok.push_back(
      {run.id, run.attempt, run.summary.sentinel(), run.summary.step_ns_min.value_or(0)});
  if (!run.summary.step_ns_min) return;
  CellSteps& steps = steps_[run.cell_id];
  steps.shortest_ns.push_back(*run.summary.step_ns_min);
  steps.usual_ns = UsualShortest(steps.shortest_ns);
}

RunNoise NoiseWatch::NoiseOf(const std::string& cell, const OkRun& run) const {
  const auto known = steps_.find(cell);
  const double usual_ns = known == steps_.end() ? 0 : known->second.usual_ns;
  return profile_.Judge(run.sentinel, run.shortest_ns, usual_ns);
}

std::vector<NoiseWatch::Judgement> NoiseWatch::Judgements() const {
  std::vector<Judgement> judgements;
  for (const auto& [key, attempts] : attempts_) {
    for (const OkRun& run : attempts.ok) {
      const RunNoise noise = NoiseOf(key.second, run);
      judgements.push_back({run.id, noise.slow(), noise.disturbed()});
    }
  }
  return judgements;
}

RunNoise NoiseWatch::CountedNoise(const std::string& cell, const Attempts& attempts) const {
  if (attempts.ok.empty()) return {};
  std::vector<RunNoise> noises;
  std::vector<Attempt> candidates;
  for (const OkRun& run : attempts.ok) {
    const RunNoise& noise = noises.emplace_back(NoiseOf(cell, run));
    candidates.push_back({run.attempt, noise.slow(), noise.disturbed()});
  }
  return noises[CountedAttempt(candidates)];
}

bool NoiseWatch::Disturbed(const RunRecord& run) const {
  const OkRun ok{run.id, run.attempt, run.summary.sentinel(), run.summary.step_ns_min.value_or(0)};
  return NoiseOf(run.cell_id, ok).disturbed();
}

int64_t NoiseWatch::DisturbedRounds() const {
  return std::count_if(attempts_.begin(), attempts_.end(), [&](const auto& entry) {
    return CountedNoise(entry.first.second, entry.second).disturbed();
  });
}

std::vector<RoundOfCell> NoiseWatch::Repeats(int64_t planned_runs) const {
  int64_t made = 0;
  Candidates slow, others;
  for (const auto& [key, attempts] : attempts_) {
    made += attempts.finished - 1;
    const RunNoise noise = CountedNoise(key.second, attempts);
    if (noise.slow() && attempts.finished < kMostAttempts) slow.emplace_back(noise.slowness, key);
    if (!noise.slow() && noise.disturbed() && attempts.finished < kMostOtherAttempts)
      others.emplace_back(noise.slowdown, key);
  }
  std::vector<RoundOfCell> repeats;
  TakeWorst(std::move(slow), planned_runs / kRunsPerRepeat - made, repeats);
  TakeWorst(std::move(others),
            planned_runs / kRunsPerOtherRepeat - made - static_cast<int64_t>(repeats.size()),
            repeats);
  return repeats;
}

}  // namespace tench
