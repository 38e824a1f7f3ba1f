// SPDX-License-Identifier: Apache-2.0
#pragma once
// The noise of a study in progress. Learns the noise readings and the shortest steps of its runs,
// judges each run by stats/noise.h, and selects the rounds of compared groups to repeat at the end.
//
// The runs of a compared group are repeated together, because a ratio pairs runs that were measured
// within minutes of each other. A group's round is repeated if one of its runs was disturbed by the
// readings. The step times have no part in it: repeating a worker's slow runs would make it look
// faster than it is. The last repetition counts. Pure; the runner takes the readings.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stats/noise.h"
#include "store/record.h"

namespace tench {

// All repeats of a study take at most this share of the time of its planned runs.
inline constexpr double kMostRepeatShare = 1.0 / 3;

class NoiseWatch {
 public:
  // A run of this study, stored earlier or just finished.
  void Learn(const RunRecord& run);

  bool Disturbed(const RunRecord& run) const;
  // Number of (round, cell) pairs whose counted run was disturbed, by the runs learnt so far.
  int64_t DisturbedRounds() const;
  // The present repetition of a group's round; 0 before its first repeat.
  int64_t Repetition(int64_t round, const std::string& group) const;

  // The judgement of every `ok` run, by the runs learnt so far.
  struct Judgement {
    int64_t run = 0;  // its id in the store
    bool slow = false, disturbed = false;
  };
  std::vector<Judgement> Judgements() const;

  // A group's round to run again: the cells that were `ok`, or what an interrupted repetition
  // lacks.
  struct Repeat {
    int64_t round = 0, repetition = 0;
    std::vector<std::string> cells;  // ids, sorted

    bool operator==(const Repeat&) const = default;
  };
  // Interrupted repetitions first, then the shortest rounds: of the time that repeats may take,
  // they complete the most comparisons. Each round is repeated at most six times, and all repeats
  // take at most a third of the time of the planned runs.
  std::vector<Repeat> Repeats() const;
  // The expected time of repeats over the time of the planned runs: the share of disturbed rounds
  // of groups so far, whose repeats are disturbed as often, up to the limit.
  double ExpectedRepeatShare() const;

 private:
  struct OkRun {
    int64_t id = 0;
    NoiseReadings readings;
    double shortest_ns = 0;
    int64_t wall_ns = 0;
    std::vector<NoiseReadings> slices = {};  // of a run in turns
  };
  // The runs of one repetition by cell; a cell that is retried has its last run.
  struct RepetitionRuns {
    std::set<std::string> finished;
    std::map<std::string, OkRun> ok;
    int64_t wall_ns = 0;  // of all its runs, failed ones too
  };
  using RoundOfGroup = std::pair<int64_t, std::string>;
  RunNoise NoiseOf(const std::string& cell, const OkRun& run) const;
  bool AnyDisturbed(const RepetitionRuns& runs) const;

  NoiseProfile profile_;
  // The steps of a cell's runs. `usual_ns` is UsualShortest of them, cached because every query
  // needs it.
  struct CellSteps {
    std::vector<double> shortest_ns;
    double usual_ns = 0;
  };
  std::map<std::string, CellSteps> steps_;  // by cell
  std::map<RoundOfGroup, std::map<int64_t, RepetitionRuns>> rounds_;
  std::vector<std::pair<std::string, OkRun>> ok_;  // all, with their cells
};

}  // namespace tench
