// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's time in one round of one study, and the pairing of two cells' rounds. Cells of one
// study are paired within each round, so drift affects both. Cells that share no study are paired
// by the number of the round, and `interleaved` is false. Single runs (study 0) have no round and
// are never paired.
//
// The compared time is by default each run's shortest step, an estimate of the undisturbed step: on
// a shared machine the median of a short run depends more on its neighbours. Where the steps of the
// compared cells differ in length, it is the shortest stretch of steps (stats/stretch.h).
//
// Runs that were measured in turns are paired slice by slice: a round's ratio is the median of the
// ratios of its undisturbed slices (stats/slice.h).
//
// A pair of runs of different repetitions of a round, or with a disturbed run, is dropped: its runs
// were not measured under like conditions.
// Thread safety: no shared state.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stats/noise.h"
#include "stats/paired.h"
#include "stats/slice.h"
#include "store/record.h"

namespace tench {

struct RoundTime {
  int64_t study = 0, round = 0, attempt = 0, repetition = 0;
  int64_t run = 0;         // id in the store
  double images = 1;       // per step
  double image_ns = 0;     // per image, of the run's median step
  double shortest_ns = 0;  // per image, of the run's shortest step
  // Per image, of the run's shortest stretch in the present comparison (SetComparedTimes); without
  // one, of the shortest step.
  double compared_ns = 0;
  std::string stretches;  // as stored; "" = unknown
  // Of a run in turns; empty = it was measured alone. SetComparedTimes sets the levels of
  // stretches.
  SliceSet set = {};
  std::vector<bool> slice_disturbed = {};
  int level = 0, highest_level = 0;
  double window_ns = 0;  // of the timed steps; 0 = unknown
  NoiseReadings noise;
  bool disturbed = false;
  bool judged = false;  // the store has the judgement
  // Of rules that repeat whole rounds of groups: a disturbed run has no pair.
  bool drops_if_disturbed = true;
  int64_t steps = 0;  // including warm-up
  int64_t timed_steps = 0;
  // Loss of the last step; nullopt for an imported log, which may lack losses.
  std::optional<double> last_loss = {};

  bool dropped() const { return disturbed && drops_if_disturbed; }
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

// Keeps the last attempt of each round, which belongs to the last repetition of its group's round.
// Choosing among attempts by their times would favour a worker whose time varies. Ordered by study
// and round; all single runs are kept.
std::vector<RoundTime> CountedTimes(std::vector<RoundTime> times);

// The length of a cell's steps: the median over its rounds of each run's median step.
double MedianStepNs(std::span<const RoundTime> times);

// The counted times of one cell of a comparison. A scale's steps do not determine the stretches.
struct ComparedTimes {
  std::span<RoundTime> times;
  bool is_scale = false;
};

// The length of the steps of a cell of the compared group (group_steps.h).
struct GroupStep {
  double median_ns = 0;
  bool is_scale = false;
};

// Sets `compared_ns` of the times of all cells of one comparison, by the lengths of their steps and
// of those of `group`, the cells that they are ranked with. It may repeat the compared cells.
void SetComparedTimes(std::span<const ComparedTimes> cells, std::span<const GroupStep> group = {});

// The geometric mean of the compared times over the rounds that are not dropped, or over all if
// none is left. 0 without times. The quotient of two cells with the same rounds is their ratio.
double MeanComparedNs(std::span<const RoundTime> times);

// The step time of a run that is compared.
enum class StepTime { kShortest, kMedian };

struct RoundPair {
  RoundTime a, b;
  double ratio = 1;  // B's time over A's; of runs in turns, of their slices
  bool outlier = false;
  std::vector<double> slice_ratios = {};  // of the undisturbed slices of runs in turns
};

struct Pairing {
  bool interleaved = true;
  bool turns = false;  // a round at least was paired by slices
  std::vector<RoundPair> rounds;
  int64_t dropped = 0;  // rounds without a pair of undisturbed runs of one repetition
  RatioTest test;
  RatioTest medians;  // of the median times; may contradict a verdict (stats/paired.h)
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
