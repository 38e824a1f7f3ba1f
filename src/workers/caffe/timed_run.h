// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps that are timed: one long `caffe` process whose log lines are the steps. It is never held up
// or hurried: a step is over when its line has come, so that the time between two lines is the time
// of a step, Caffe's own data layer and log line in it.
//   train     `caffe train --weights`, display 1: from one iteration line to the next, that is the
//   update of the one before, forward, backward forward   `caffe test --weights`: from one batch's
//   scores to the next gradient  `caffe time`: forward and backward without an update. It takes no
//   weights: they come from the network's own fillers, in the
//             same distribution. Its loss would be theirs, so ours is computed once before, by
//             `caffe test`, with dropout as the identity

#include <filesystem>
#include <optional>
#include <string>

#include "record/phase.h"
#include "worker/adapter.h"
#include "workers/caffe/workshop.h"

namespace tench::caffe_worker {

class TimedRun {
 public:
  // `from` is a .caffemodel or a .solverstate in the workshop's folder. Returns when Caffe is about
  // to make its first step.
  static Result<TimedRun> Start(const Workshop& workshop, const TypedGraph& graph,
                                const BuildOptions& options, double lr, const std::string& from);

  pid_t pid() const { return process_.pid(); }
  // Waits for the next step's line, and gives its loss as the log has it: six digits.
  Result<double> Step();

 private:
  TimedRun(CaffeProcess process, Phase phase, std::vector<LossBlob> losses)
      : process_(std::move(process)), phase_(phase), losses_(std::move(losses)) {}
  Result<std::optional<double>> LossIn(std::string_view line);

  CaffeProcess process_;
  Phase phase_;
  std::vector<LossBlob> losses_;
  double gradient_loss_ = 0;  // phase gradient
  double scored_ = 0;         // phase forward: of the batch that is being scored
  size_t scores_ = 0;
};

// The process of a timed training is always ahead of the steps that were taken from it. This makes
// `steps` updates once more, from the same file at the same rate, untimed, and gives the
// .solverstate that they end in. `done` is how many updates `from` has behind it.
Result<std::string> Replay(const Workshop& workshop, const TypedGraph& graph,
                           const BuildOptions& options, double lr, const std::string& from,
                           int64_t done, int64_t steps);

// In words, for the result.
std::string_view StepSource(Phase phase);

}  // namespace tench::caffe_worker
