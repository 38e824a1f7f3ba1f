// SPDX-License-Identifier: Apache-2.0
#include "report/round_time.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "record/run_flag.h"
#include "report/record_json.h"
#include "stats/stats.h"
#include "stats/stretch.h"

namespace tench {
namespace {

// The first rules by which a disturbed run has no pair.
constexpr int64_t kRulesOfDroppedPairs = 3;

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
  return time == StepTime::kShortest ? round.compared_ns : round.image_ns;
}

double SliceNs(const RoundTime& round, size_t slice, StepTime time) {
  const TimedSlice& each = round.set.slices[slice];
  return time == StepTime::kShortest ? each.stretches.StepNs(round.level, round.highest_level)
                                     : each.median_ns;
}

// Whether the two runs were measured in turns with each other.
bool InTurns(const RoundTime& a, const RoundTime& b) {
  return a.set.id != 0 && a.set.id == b.set.id && a.study == b.study;
}

// The ratios of the pairs of undisturbed slices.
std::vector<double> SliceRatios(const RoundTime& a, const RoundTime& b, StepTime time) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.set.slices.size(), b.set.slices.size()); ++i) {
    const auto disturbed = [i](const RoundTime& round) {
      return i < round.slice_disturbed.size() && round.slice_disturbed[i];
    };
    const double a_ns = SliceNs(a, i, time) / a.images, b_ns = SliceNs(b, i, time) / b.images;
    if (!disturbed(a) && !disturbed(b) && a_ns > 0 && b_ns > 0) ratios.push_back(b_ns / a_ns);
  }
  return ratios;
}

// Too few pairs of slices are left for a median that one slice does not decide.
bool LacksSlices(const RoundTime& a, const RoundTime& b, StepTime time) {
  const size_t all = std::min(a.set.slices.size(), b.set.slices.size());
  return SliceRatios(a, b, time).size() < std::max<size_t>(1, (all + 1) / 2);
}

struct Meeting {
  std::vector<RoundPair> pairs;
  int64_t dropped = 0;
};

Meeting Meet(const std::map<Key, RoundTime>& a, const std::map<Key, RoundTime>& b, StepTime time) {
  Meeting meeting;
  for (const auto& [key, round] : a) {
    const auto found = b.find(key);
    if (found == b.end()) continue;
    const RoundTime& other = found->second;
    const double a_ns = TimeOf(round, time), b_ns = TimeOf(other, time);
    if (!(a_ns > 0 && b_ns > 0)) continue;
    // Studies count their repetitions apart.
    const bool other_repetition =
        round.study == other.study && round.repetition != other.repetition;
    const bool too_few = InTurns(round, other) && LacksSlices(round, other, time);
    if (round.dropped() || other.dropped() || other_repetition || too_few) {
      ++meeting.dropped;
    } else {
      meeting.pairs.push_back({round, other, b_ns / a_ns, false, {}});
    }
  }
  return meeting;
}

bool AnyInTurns(std::span<const RoundPair> rounds) {
  return std::any_of(rounds.begin(), rounds.end(),
                     [](const RoundPair& round) { return InTurns(round.a, round.b); });
}

// One ratio per round.
std::vector<double> RatiosOf(std::span<const RoundPair> rounds, StepTime time) {
  if (AnyInTurns(rounds)) {
    std::vector<std::vector<double>> sets;
    for (const RoundPair& round : rounds) {
      if (InTurns(round.a, round.b)) {
        sets.push_back(SliceRatios(round.a, round.b, time));
      } else {
        sets.push_back({TimeOf(round.b, time) / TimeOf(round.a, time)});
      }
    }
    return SetRatios(sets);
  }
  std::vector<double> ratios;
  for (const RoundPair& round : rounds) {
    const double a_ns = TimeOf(round.a, time), b_ns = TimeOf(round.b, time);
    if (a_ns > 0 && b_ns > 0) ratios.push_back(b_ns / a_ns);
  }
  return ratios;
}

}  // namespace

std::optional<RoundTime> RoundTimeOf(const RunRecord& run) {
  const std::optional<double> image_ns = ImageNs(run);
  if (run.outcome != Outcome::kOk || !image_ns) return std::nullopt;
  RoundTime time;
  time.study = run.study;
  time.round = run.round;
  time.attempt = run.attempt;
  time.repetition = run.repetition;
  time.run = run.id;
  time.images = static_cast<double>(std::max<int64_t>(run.cell.Integer(kAxisBatch), 1));
  time.image_ns = time.shortest_ns = *image_ns;
  time.stretches = run.summary.stretches;
  if (Result<SliceSet> set = SliceSet::Decode(run.summary.slices); set.ok())
    time.set = *std::move(set);
  time.window_ns = run.summary.step_ns_mean.value_or(0) * static_cast<double>(run.summary.steps);
  time.noise = run.summary.noise();
  time.judged = run.summary.disturbed.has_value();
  time.disturbed = run.summary.disturbed.value_or(false);
  time.drops_if_disturbed = run.rules >= kRulesOfDroppedPairs;
  time.steps = run.summary.warmup_steps + run.summary.steps;
  time.timed_steps = run.summary.steps;
  if (!HasFlag(run.flags, kFlagImported)) time.last_loss = run.summary.last_loss;
  // An imported log may have only the median.
  if (run.summary.step_ns_min)
    time.shortest_ns *= *run.summary.step_ns_min / *run.summary.step_ns_median;
  time.compared_ns = time.shortest_ns;
  return time;
}

void StudyNoise::Add(const RunRecord& run) {
  if (run.study != 0) studies_[run.study].Add(run.summary.noise());
}

void StudyNoise::MarkDisturbed(std::span<RoundTime> times) const {
  for (RoundTime& time : times) {
    const auto study = studies_.find(time.study);
    if (study == studies_.end()) continue;
    time.slice_disturbed.clear();
    for (const TimedSlice& slice : time.set.slices)
      time.slice_disturbed.push_back(study->second.Judge(slice.noise, 0, 0).disturbed());
    if (time.judged) continue;
    time.disturbed = study->second.Judge(time.noise, time.set.noise(), 0, 0).disturbed();
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
  std::stable_sort(times.begin(), times.end(), [](const RoundTime& x, const RoundTime& y) {
    return std::tuple(x.study, x.round, x.attempt) < std::tuple(y.study, y.round, y.attempt);
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

double MedianStepNs(std::span<const RoundTime> times) {
  std::vector<double> steps;
  for (const RoundTime& time : times) steps.push_back(time.image_ns * time.images);
  return Median(std::move(steps));
}

void SetComparedTimes(std::span<const ComparedTimes> cells, std::span<const GroupStep> group) {
  double longest_ns = 0;
  for (const GroupStep& other : group) {
    if (!other.is_scale) longest_ns = std::max(longest_ns, other.median_ns);
  }
  for (const ComparedTimes& cell : cells) {
    if (!cell.is_scale) longest_ns = std::max(longest_ns, MedianStepNs(cell.times));
  }
  std::vector<int> levels;
  int highest = 0;
  for (const GroupStep& other : group) {
    if (!other.is_scale) highest = std::max(highest, StretchLevel(longest_ns, other.median_ns));
  }
  for (const ComparedTimes& cell : cells) {
    levels.push_back(StretchLevel(longest_ns, MedianStepNs(cell.times)));
    if (!cell.is_scale) highest = std::max(highest, levels.back());
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    for (RoundTime& time : cells[i].times) {
      time.compared_ns = time.shortest_ns;
      const int level = std::min(levels[i], highest);
      time.level = level;
      time.highest_level = highest;
      // The shortest step itself needs no profile, which older files and some logs lack.
      if (highest == 0 || time.stretches.empty()) continue;
      const Result<StretchProfile> profile = StretchProfile::Decode(time.stretches);
      if (profile.ok()) time.compared_ns = profile->StepNs(level, highest) / time.images;
    }
  }
}

double MeanComparedNs(std::span<const RoundTime> times) {
  std::vector<double> kept, all;
  for (const RoundTime& time : times) {
    if (!(time.compared_ns > 0)) continue;
    all.push_back(time.compared_ns);
    if (!time.dropped()) kept.push_back(time.compared_ns);
  }
  if (all.empty()) return 0;
  return GeometricMeanOf(kept.empty() ? all : kept).value;
}

Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b,
                   const PairingRule& rule) {
  Pairing pairing;
  Meeting meeting;
  if (rule.source == Source::kSameStore) meeting = Meet(ByStudy(a), ByStudy(b), rule.time);
  if (meeting.pairs.empty() && meeting.dropped == 0) {
    meeting = Meet(ByNumber(a), ByNumber(b), rule.time);
    pairing.interleaved = meeting.pairs.empty();
  }
  pairing.rounds = std::move(meeting.pairs);
  pairing.dropped = meeting.dropped;
  pairing.turns = AnyInTurns(pairing.rounds);
  const std::vector<double> ratios = RatiosOf(pairing.rounds, rule.time);
  for (size_t i = 0; pairing.turns && i < ratios.size(); ++i) {
    RoundPair& round = pairing.rounds[i];
    round.ratio = ratios[i];
    if (InTurns(round.a, round.b)) round.slice_ratios = SliceRatios(round.a, round.b, rule.time);
  }
  pairing.test = TestRatios(ratios, rule.margin);
  pairing.medians = TestRatios(RatiosOf(pairing.rounds, StepTime::kMedian), rule.margin);
  for (const size_t outlier : pairing.test.outliers) pairing.rounds[outlier].outlier = true;
  return pairing;
}

}  // namespace tench
