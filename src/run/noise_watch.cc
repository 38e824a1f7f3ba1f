// SPDX-License-Identifier: Apache-2.0
#include "run/noise_watch.h"

#include <algorithm>
#include <limits>

namespace tench {
namespace {

constexpr int64_t kRunsPerRepeat = 10;

}  // namespace

void NoiseWatch::Learn(const RunRecord& run) {
  if (run.outcome == Outcome::kInterrupted) return;
  profile_.Add(run.summary.sentinel());
  Attempts& attempts = attempts_[{run.round, run.cell_id}];
  ++attempts.finished;
  if (run.outcome == Outcome::kOk) attempts.ok.push_back(run.summary.sentinel());
}

double NoiseWatch::LeastSlowdown(const Attempts& attempts) const {
  double least = std::numeric_limits<double>::infinity();
  for (const SentinelReadings& readings : attempts.ok) least = std::min(least, profile_.Slowdown(readings).value_or(1));
  return attempts.ok.empty() ? 1 : least;
}

int64_t NoiseWatch::DisturbedRounds() const {
  return std::count_if(attempts_.begin(), attempts_.end(),
                       [&](const auto& entry) { return LeastSlowdown(entry.second) > kDisturbedAbove; });
}

std::vector<std::pair<int64_t, std::string>> NoiseWatch::Repeats(int64_t planned_runs) const {
  int64_t left = planned_runs / kRunsPerRepeat;
  std::vector<std::pair<double, std::pair<int64_t, std::string>>> candidates;
  for (const auto& [key, attempts] : attempts_) {
    left -= attempts.finished - 1;
    const double slowdown = LeastSlowdown(attempts);
    if (attempts.finished == 1 && slowdown > kDisturbedAbove) candidates.emplace_back(slowdown, key);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (static_cast<int64_t>(candidates.size()) > left)
    candidates.resize(static_cast<size_t>(std::max<int64_t>(0, left)));
  std::vector<std::pair<int64_t, std::string>> repeats;
  for (auto& candidate : candidates) repeats.push_back(std::move(candidate.second));
  return repeats;
}

}  // namespace tench
