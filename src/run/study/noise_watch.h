// SPDX-License-Identifier: Apache-2.0
#pragma once
// The noise of a study in progress. Learns the sentinel's readings and the shortest steps of its
// runs, judges each run by stats/noise.h, and selects the runs to repeat at the end. Pure; the
// runner takes the readings.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stats/counted_attempt.h"
#include "stats/noise.h"
#include "store/record.h"

namespace tench {

// Planned runs per repeat of a disturbed run, at most.
inline constexpr int64_t kRunsPerRepeat = 5;

class NoiseWatch {
 public:
  // A run of this study, stored earlier or just finished.
  void Learn(const RunRecord& run);

  bool Disturbed(const RunRecord& run) const;
  // Number of (round, cell) pairs without an undisturbed run, by the runs learnt so far.
  int64_t DisturbedRounds() const;

  // The judgement of every `ok` run, by the runs learnt so far.
  struct Judgement {
    int64_t run = 0;  // its id in the store
    bool slow = false, disturbed = false;
  };
  std::vector<Judgement> Judgements() const;

  // (round, cell id) of the runs to repeat: first the slow runs, then the runs with disturbed
  // sentinel readings, each the worst first. A slow run is repeated at most twice, any other once.
  // All repeats of a study, including earlier ones, are at most a fifth of its planned runs, and a
  // tenth without the slow ones.
  std::vector<std::pair<int64_t, std::string>> Repeats(int64_t planned_runs) const;

 private:
  struct OkRun {
    int64_t id = 0, attempt = 0;
    SentinelReadings sentinel;
    double shortest_ns = 0;
  };
  struct Attempts {
    int64_t finished = 0;
    std::vector<OkRun> ok;
  };
  RunNoise NoiseOf(const std::string& cell, const OkRun& run) const;
  // The noise of the attempt that counts (stats/counted_attempt.h); the usual noise if none is ok.
  RunNoise CountedNoise(const std::string& cell, const Attempts& attempts) const;

  NoiseProfile profile_;
  // The steps of a cell's runs. `usual_ns` is UsualShortest of them, cached because every query
  // needs it.
  struct CellSteps {
    std::vector<double> shortest_ns;
    double usual_ns = 0;
  };
  std::map<std::string, CellSteps> steps_;  // by cell
  std::map<std::pair<int64_t, std::string>, Attempts> attempts_;
};

}  // namespace tench
