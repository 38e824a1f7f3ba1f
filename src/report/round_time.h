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
  int64_t run = 0;         // id in the store
  double image_ns = 0;     // per image, of the run's median step
  double shortest_ns = 0;  // per image, of the run's shortest step
  SentinelReadings sentinel;
  bool disturbed = false;
  bool slow = false;    // its own steps were slow; implies disturbed (stats/noise.h)
  bool judged = false;  // the store has both judgements
  int64_t steps = 0;    // including warm-up
  int64_t timed_steps = 0;
  // Loss of the last step; nullopt for an imported log, which may lack losses.
  std::optional<double> last_loss = {};
};

// The time of an `ok` run; nullopt for any other, or without a time.
std::optional<RoundTime> RoundTimeOf(const RunRecord& run);

// The noise of every study of one store, from all of its runs. Single runs belong to no study and
// are not judged.
class StudyNoise {
 public:
  void Add(const RunRecord& run);
  // Judges the times without a stored judgement: their study was killed, or an older version ran
  // it. `times` are all of one cell.
  void MarkDisturbed(std::span<RoundTime> times) const;
  // Only studies with sentinel readings.
  std::map<int64_t, NoiseSummary> Summaries() const;

 private:
  std::map<int64_t, NoiseProfile> studies_;
};

// Keeps the attempt of each round that counts (stats/counted_attempt.h). Ordered by study and
// round; all single runs are kept.
std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times);

// The step time of a run that is compared.
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

// Study ids are comparable only within one store.
enum class Source { kSameStore, kOtherStore };

struct PairingRule {
  Source source = Source::kSameStore;
  double margin = kDefaultMargin;
  StepTime time = StepTime::kShortest;
};

// Both arguments are results of CountedTimes.
Pairing PairRounds(std::span<const RoundTime> a, std::span<const RoundTime> b,
                   const PairingRule& rule = {});

}  // namespace tench
