// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's time in one round of one study, and the pairing of two cells' rounds. Cells of one
// study are paired within each round, so drift affects both. Cells that share no study are paired
// by the number of the round, and `interleaved` is false. Single runs (study 0) have no round and
// are never paired.
//
// The compared time is by default each run's shortest step, an estimate of the undisturbed step:
// on a shared machine the median of a short run depends more on its neighbours.
// Thread safety: no shared state.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stats/noise.h"
#include "stats/paired.h"
#include "store/record.h"

namespace tench {

struct RoundTime {
  int64_t study = 0, round = 0, attempt = 0;
  int64_t run = 0;         // its id in the store
  double image_ns = 0;     // of the run's median step
  double shortest_ns = 0;  // per image too, of its shortest step
  SentinelReadings sentinel;
  bool disturbed = false;
  bool slow = false;    // itself, all along; then it is disturbed, too (stats/noise.h)
  bool judged = false;  // the study stored both
};

// Of an `ok` run that has a time.
std::optional<RoundTime> RoundTimeOf(const RunRecord& run);

// The noise of every study of one store, from all of its runs. Single runs have no study to be
// measured by.
class StudyNoise {
 public:
  void Add(const RunRecord& run);
  // Judges the times whose study stored no judgement: it was killed, or an older tench made it.
  // `times` are all of one cell.
  void MarkDisturbed(std::span<RoundTime> times) const;
  // Of the studies that the sentinel watched.
  std::map<int64_t, NoiseSummary> Summaries() const;

 private:
  std::map<int64_t, NoiseProfile> studies_;
};

// Of several attempts at one round, the one that counts (stats/counted_attempt.h). Ordered by study
// and round; single runs are all kept.
std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times);

// Which of a run's step times are compared.
enum class StepTime { kShortest, kMedian };

struct RoundPair {
  RoundTime a, b;
  double ratio = 1;  // B's time over A's
  bool outlier = false;
};

struct Pairing {
  bool interleaved = true;
  std::vector<RoundPair> rounds;
  RatioTest test;
};

// Of another store, equal numbers of studies mean nothing.
enum class Source { kSameStore, kOtherStore };

struct PairingRule {
  Source source = Source::kSameStore;
  double margin = kDefaultMargin;
  StepTime time = StepTime::kShortest;
};

// Both are CountedTimes.
Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b,
                   const PairingRule& rule = {});

}  // namespace tench
