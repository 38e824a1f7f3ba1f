// SPDX-License-Identifier: Apache-2.0
#pragma once
// The progress of a sweep on stderr.
//   On a terminal: a bar with done/total, disturbed runs, ETA, the current cell and the last
//   result. Elsewhere: one plain line per run, and one after half a minute without any.
// A failed run always leaves a line; equal reasons are printed once.

#include <map>
#include <set>
#include <string>

#include "cli/live_line.h"
#include "run/study/runner.h"

namespace tench {

class SweepProgress final : public RunnerEvents {
 public:
  void OnIdentify(const std::string& worker) override;
  void OnNewStudy(const std::string& reason) override;
  void OnStudy(const StudyProgress& progress) override;
  void OnTuning(const StudyTuning& tuning) override;
  void OnRounds(const std::string& group, const std::string& reason) override;
  void OnStart(const StudyProgress& progress, const PlannedCell& cell) override;
  void OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                  const RunProgress& run) override;
  void OnFinish(const StudyProgress& progress, const RunRecord& run) override;

  // Runs of this process by outcome.
  const std::map<Outcome, int64_t>& outcomes() const { return outcomes_; }
  void Close() { line_.Clear(); }

 private:
  LiveLine line_;
  std::string last_;
  std::set<std::string> told_;  // reasons that were printed
  std::map<Outcome, int64_t> outcomes_;
};

}  // namespace tench
