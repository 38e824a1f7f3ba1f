// SPDX-License-Identifier: Apache-2.0
#pragma once
// The measurement loop: warm-up steps, then timed steps until the stop rule finishes, or slices of
// steps on request. Calls an adapter and emits Steps messages. Not aware of JSON or descriptors, so
// that a test runs it with a fake clock and a fake adapter. Used by one thread.

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/stop_token.h"
#include "stats/stop_rule.h"
#include "worker/adapter.h"

namespace tench {

struct LoopOptions {
  Phase phase = Phase::kTrain;
  Budget budget;                    // epochs already converted to fixed_steps
  std::vector<double> lr_schedule;  // by step number, including warm-up; empty = unchanged
  int64_t batches = 1;              // of a step: Solver::iter_size in phase train
  // Both null for fixed input. Making a batch is off the clock; next_batch is input_ns: passing it
  // to the adapter, after the wait for it if a loader makes it. The number is that of the batch,
  // which is the step's if a step is one batch.
  std::function<Status(int64_t batch)> make_batch, next_batch;
  // The memory that holds generated code (GeneratedCodeBytes), read off the clock around timed
  // steps that follow warm-up steps. Growth is counted as a compilation. May be null.
  std::function<int64_t()> generated_code;
  // Called off the clock before every batch of a step; may be null.
  std::function<void()> before_step;
  // Called off the clock with the number of steps so far; may be null.
  std::function<Status(int64_t steps)> after_step;
  // Job::turns: waits for the next slice; nullopt = no more. Null = no turns. Each slice begins
  // with warm-up steps.
  std::function<Result<std::optional<Turn>>()> next_turn;
  // Evaluates the parameters off the clock, before the first step, after every `evaluate_every`
  // steps and after the last. Returns whether the target is reached, which ends the timed steps.
  // May be null.
  std::function<Result<bool>(int64_t steps)> evaluate;
  int64_t evaluate_every = 1;
  int64_t traced_steps = 0;  // the first timed steps whose intervals the result has
  StopToken stop;            // requested: end after the current step
  Clock* clock = nullptr;    // null = the system's
};

struct LoopResult {
  bool converged = false;           // by the stop rule, or by reaching the target
  int64_t steps = 0;                // including warm-up
  int64_t cpu_ns = 0, wall_ns = 0;  // over the timed steps, without pauses
  bool stopped = false;             // by `stop`
  struct Interval {
    int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<Interval> traced;  // of the first timed steps
};

// `emit` gets a Steps message about every 0.2 s and at the end. It is called between steps, off the
// clock.
Result<LoopResult> RunTimedLoop(Adapter& adapter, const LoopOptions& options,
                                const std::function<Status(const Steps&)>& emit);

}  // namespace tench
