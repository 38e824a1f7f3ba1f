// SPDX-License-Identifier: Apache-2.0
#pragma once
// The noise of a study as it goes on: learns the sentinel's readings of its runs and says which runs are to be repeated
// at its end. Pure; the runner takes the readings.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/noise.h"
#include "store/record.h"

namespace tench {

class NoiseWatch {
 public:
  // A run of this study, from before or just made.
  void Learn(const RunRecord& run);

  bool Disturbed(const RunRecord& run) const { return profile_.Disturbed(run.summary.sentinel()); }
  // Rounds of cells of which there is no undisturbed run, by what is known now.
  int64_t DisturbedRounds() const;

  // (round, cell id) of the runs to repeat, the worst first. A run is repeated once, and all repeats of a study, those
  // made before included, are at most a tenth of its planned runs.
  std::vector<std::pair<int64_t, std::string>> Repeats(int64_t planned_runs) const;

 private:
  struct Attempts {
    int64_t finished = 0;
    std::vector<SentinelReadings> ok;  // of those that were ok
  };

  // The least slowdown of its ok attempts; 1 if there are none.
  double LeastSlowdown(const Attempts& attempts) const;

  NoiseProfile profile_;
  std::map<std::pair<int64_t, std::string>, Attempts> attempts_;
};

}  // namespace tench
