// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steps of a timed build: one long `caffe` process whose log lines end the steps. The time
// between the stamps of two lines, in microseconds, is the time of a step. It includes Caffe's data
// layer and the log line, and excludes the pipe and this process.
//
// - train, `caffe train --weights`, display 1: from one iteration line to the next, which is the
//   update of the step before, forward and backward;
// - forward, `caffe test --weights`: from one batch's scores to the next;
// - gradient, `caffe time`: forward and backward without an update. It takes no weights: Caffe's
//   fillers draw them from the same distribution. `caffe test` computes the loss of the right
//   weights once before, with dropout as the identity.

#include <filesystem>
#include <optional>
#include <string>

#include "logs/caffe_line.h"
#include "record/phase.h"
#include "worker/adapter.h"
#include "workers/caffe/workshop.h"

namespace tench::caffe_worker {

class TimedRun {
 public:
  // `from` is a .caffemodel or a .solverstate in the workshop's folder. Returns just before Caffe's
  // first step.
  static Result<TimedRun> Start(const Workshop& workshop, const TypedGraph& graph,
                                const BuildOptions& options, double lr, const std::string& from);

  pid_t pid() const { return process_.pid(); }
  // Waits for the next step's line and returns its loss, with the log's six digits.
  Result<double> Step();
  // The last step by the log's stamps. nullopt for the first step, which has no line before it, and
  // if the machine's clock was set back.
  std::optional<int64_t> LastStepNs() const { return last_step_ns_; }

 private:
  TimedRun(CaffeProcess process, Phase phase, std::vector<LossBlob> losses)
      : process_(std::move(process)), phase_(phase), losses_(std::move(losses)) {}
  std::optional<double> LossIn(const CaffeLine& line);

  CaffeProcess process_;
  Phase phase_;
  std::vector<LossBlob> losses_;
  double gradient_loss_ = 0;  // phase gradient
  double scored_ = 0;         // phase forward: sum of the current batch's scores
  size_t scores_ = 0;
  std::optional<GlogTime> end_;  // of the last step
  std::optional<int64_t> last_step_ns_;
};

// The process of a timed training may be ahead of the steps that were read. Repeats `steps` updates
// from the same file at the same rate, untimed, and returns the .solverstate after them. `done` is
// the number of updates before `from`.
Result<std::string> Replay(const Workshop& workshop, const TypedGraph& graph,
                           const BuildOptions& options, double lr, const std::string& from,
                           int64_t done, int64_t steps);

// How steps are delimited, as text for the result.
std::string_view StepSource(Phase phase);

}  // namespace tench::caffe_worker
