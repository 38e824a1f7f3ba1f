// SPDX-License-Identifier: Apache-2.0
#include "report/round_time.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "record/run_flag.h"
#include "report/record_json.h"
#include "stats/counted_attempt.h"

namespace tench {
namespace {

using Key = std::pair<int64_t, int64_t>;  // (study, or its index among the cell's studies; round)

std::map<Key, RoundTime> ByStudy(std::span<const RoundTime> times) {
  std::map<Key, RoundTime> rounds;
  for (const RoundTime& time : times) {
    if (time.study != 0) rounds[{time.study, time.round}] = time;
  }
  return rounds;
}

// Round 3 of one cell's first study is paired with round 3 of the other's first study, independent
// of study ids.
std::map<Key, RoundTime> ByNumber(std::span<const RoundTime> times) {
  std::map<Key, RoundTime> rounds;
  int64_t number = -1, study = 0;
  for (const RoundTime& time : times) {
    if (time.study == 0) continue;
    if (time.study != study) ++number;
    study = time.study;
    rounds[{number, time.round}] = time;
  }
  return rounds;
}

double TimeOf(const RoundTime& round, StepTime time) {
  return time == StepTime::kShortest ? round.shortest_ns : round.image_ns;
}

std::vector<RoundPair> Meet(const std::map<Key, RoundTime>& a, const std::map<Key, RoundTime>& b,
                            StepTime time) {
  std::vector<RoundPair> pairs;
  for (const auto& [key, round] : a) {
    const auto other = b.find(key);
    if (other == b.end()) continue;
    const double a_ns = TimeOf(round, time), b_ns = TimeOf(other->second, time);
    if (a_ns > 0 && b_ns > 0) pairs.push_back({round, other->second, b_ns / a_ns, false});
  }
  return pairs;
}

}  // namespace

std::optional<RoundTime> RoundTimeOf(const RunRecord& run) {
  const std::optional<double> image_ns = ImageNs(run);
  if (run.outcome != Outcome::kOk || !image_ns) return std::nullopt;
  RoundTime time{run.study, run.round, run.attempt,           run.id,
                 *image_ns, *image_ns, run.summary.sentinel()};
  time.judged = run.summary.disturbed.has_value();
  time.slow = run.summary.slow.value_or(false);
  time.disturbed = run.summary.disturbed.value_or(false);
  time.steps = run.summary.warmup_steps + run.summary.steps;
  time.timed_steps = run.summary.steps;
  if (!HasFlag(run.flags, kFlagImported)) time.last_loss = run.summary.last_loss;
  // An imported log may have only the median.
  if (run.summary.step_ns_min)
    time.shortest_ns *= *run.summary.step_ns_min / *run.summary.step_ns_median;
  return time;
}

void StudyNoise::Add(const RunRecord& run) {
  if (run.study != 0) studies_[run.study].Add(run.summary.sentinel());
}

void StudyNoise::MarkDisturbed(std::span<RoundTime> times) const {
  std::map<int64_t, std::vector<double>> shortest_ns;  // by study
  for (const RoundTime& time : times) {
    if (time.study != 0) shortest_ns[time.study].push_back(time.shortest_ns);
  }
  std::map<int64_t, double> usual_ns;
  for (const auto& [study, shortest] : shortest_ns) usual_ns[study] = UsualShortest(shortest);
  const NoiseProfile unknown;
  for (RoundTime& time : times) {
    if (time.judged) continue;
    const auto study = studies_.find(time.study);
    const double usual = time.study == 0 ? 0 : usual_ns[time.study];
    const NoiseProfile& profile = study != studies_.end() ? study->second : unknown;
    const RunNoise noise = profile.Judge(time.sentinel, time.shortest_ns, usual);
    time.slow = noise.slow();
    time.disturbed = noise.disturbed();
  }
}

std::map<int64_t, NoiseSummary> StudyNoise::Summaries() const {
  std::map<int64_t, NoiseSummary> summaries;
  for (const auto& [study, profile] : studies_) {
    if (profile.runs() > 0) summaries.emplace(study, profile.Summary());
  }
  return summaries;
}

std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times) {
  const auto attempt = [](const RoundTime& time) {
    return Attempt{time.attempt, time.slow, time.disturbed};
  };
  // Sorts the attempt that counts last within its round.
  std::stable_sort(times.begin(), times.end(), [&](const RoundTime& x, const RoundTime& y) {
    if (std::tuple(x.study, x.round) != std::tuple(y.study, y.round))
      return std::tuple(x.study, x.round) < std::tuple(y.study, y.round);
    return CountsLess(attempt(x), attempt(y));
  });
  std::vector<RoundTime> counted;
  for (const RoundTime& time : times) {
    const bool again = !counted.empty() && time.study != 0 && counted.back().study == time.study &&
                       counted.back().round == time.round;
    if (again) counted.pop_back();
    counted.push_back(time);
  }
  return counted;
}

Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b,
                   const PairingRule& rule) {
  Pairing pairing;
  if (rule.source == Source::kSameStore) pairing.rounds = Meet(ByStudy(a), ByStudy(b), rule.time);
  if (pairing.rounds.empty()) {
    pairing.rounds = Meet(ByNumber(a), ByNumber(b), rule.time);
    pairing.interleaved = pairing.rounds.empty();
  }
  std::vector<double> ratios;
  for (const RoundPair& round : pairing.rounds) ratios.push_back(round.ratio);
  pairing.test = TestRatios(ratios, rule.margin);
  for (const size_t outlier : pairing.test.outliers) pairing.rounds[outlier].outlier = true;
  return pairing;
}

}  // namespace tench
