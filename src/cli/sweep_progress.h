// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a sweep shows while it runs: a bar with done/total, disturbed runs, ETA, the current cell
// and the last result on a terminal; one plain line per run elsewhere. Failed runs always leave a
// line; the same long reason is told once.

#include <map>
#include <set>
#include <string>

#include "cli/live_line.h"
#include "run/study/runner.h"

namespace tench {

class SweepProgress final : public RunnerEvents {
 public:
  void OnStudy(const StudyProgress& progress) override;
  void OnStart(const StudyProgress& progress, const PlannedCell& cell) override;
  void OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                  const RunProgress& run) override;
  void OnFinish(const StudyProgress& progress, const RunRecord& run) override;

  // Runs of each outcome, made now.
  const std::map<Outcome, int64_t>& outcomes() const { return outcomes_; }
  void Close() { line_.Clear(); }

 private:
  LiveLine line_;
  std::string last_;
  std::set<std::string> told_;  // reasons that were shown in full once
  std::map<Outcome, int64_t> outcomes_;
};

}  // namespace tench
