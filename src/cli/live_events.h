// SPDX-License-Identifier: Apache-2.0
#pragma once
// Passes the events of a study on to another listener, and writes them to the progress file that
// `tench serve` reads (store/live_progress.h). The file exists from the study's first event until
// this object ends. A file that cannot be written is no reason to stop a sweep: it is left out.
//
// Cost: the file is written when a run changes its stage, and otherwise at most once per second,
// in the tick in which the run's memory is sampled; a few kilobytes without a sync. The worker's
// process, which has the clock, does nothing for it.
//
// Thread safety: none; for the main thread.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/study/runner.h"
#include "store/live_progress.h"

namespace tench {

class LiveEvents final : public RunnerEvents {
 public:
  // `next` must outlive this object.
  LiveEvents(RunnerEvents& next, std::filesystem::path database, int64_t rounds)
      : next_(next), database_(std::move(database)), rounds_(rounds) {}

  void OnIdentify(const std::string& worker) override { next_.OnIdentify(worker); }
  void OnNewStudy(const std::string& reason) override { next_.OnNewStudy(reason); }
  void OnStudy(const StudyProgress& progress) override;
  void OnTuning(const StudyTuning& tuning) override;
  void OnRounds(const std::string& group, const std::string& reason) override {
    next_.OnRounds(group, reason);
  }
  void OnStart(const StudyProgress& progress, const PlannedCell& cell) override;
  void OnProgress(const StudyProgress& progress, const PlannedCell& cell,
                  const RunProgress& run) override;
  void OnFinish(const StudyProgress& progress, const RunRecord& run) override;

 private:
  void Write(const StudyProgress& progress, std::optional<LiveRun> run);
  void NoteLoss(const RunProgress& now);

  RunnerEvents& next_;
  const std::filesystem::path database_;
  const int64_t rounds_;
  std::optional<LiveProgressFile> file_;
  StudyProgress begun_;  // as the study began; tuning makes no run
  std::string stage_;
  std::vector<LiveLoss> losses_;  // of the run in progress, thinned
  int64_t loss_stride_ = 1;       // the fewest steps between two of them
  int64_t written_ns_ = 0;
};

}  // namespace tench
