// SPDX-License-Identifier: Apache-2.0
#include "report/round_time.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tench {
namespace {

using Key = std::pair<int64_t, int64_t>;   // study, or its place among the cell's studies, and round

std::map<Key, RoundTime> ByStudy(std::span<const RoundTime> times) {
  std::map<Key, RoundTime> rounds;
  for (const RoundTime& time : times) {
    if (time.study != 0) rounds[{time.study, time.round}] = time;
  }
  return rounds;
}

// Round 3 of the cell's first study meets round 3 of the other's first study, whatever their ids are.
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

std::vector<RoundPair> Meet(const std::map<Key, RoundTime>& a, const std::map<Key, RoundTime>& b) {
  std::vector<RoundPair> pairs;
  for (const auto& [key, time] : a) {
    const auto other = b.find(key);
    if (other != b.end() && time.image_ns > 0 && other->second.image_ns > 0) pairs.push_back({time, other->second, false});
  }
  return pairs;
}

}  // namespace

std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times) {
  std::stable_sort(times.begin(), times.end(), [](const RoundTime& x, const RoundTime& y) {
    return std::tie(x.study, x.round, x.attempt) < std::tie(y.study, y.round, y.attempt);
  });
  std::vector<RoundTime> counted;
  for (const RoundTime& time : times) {
    const bool again = !counted.empty() && time.study != 0 && counted.back().study == time.study && counted.back().round == time.round;
    if (again) counted.pop_back();
    counted.push_back(time);
  }
  return counted;
}

Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b, Source source, double margin) {
  Pairing pairing;
  if (source == Source::kSameStore) pairing.rounds = Meet(ByStudy(a), ByStudy(b));
  if (pairing.rounds.empty()) {
    pairing.rounds = Meet(ByNumber(a), ByNumber(b));
    pairing.interleaved = pairing.rounds.empty();
  }
  std::vector<double> ratios;
  for (const RoundPair& round : pairing.rounds) ratios.push_back(round.ratio());
  pairing.test = TestRatios(ratios, margin);
  for (const size_t outlier : pairing.test.outliers) pairing.rounds[outlier].outlier = true;
  return pairing;
}

}  // namespace tench
