// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs measured in turns (duet benchmarking, Bulej et al. 2020, but one worker at a time): all
// workers are built and stay resident; then each makes a slice of steps per pass, in shuffled
// order, while SIGSTOP stops the others; then all end. The first step of a slice is warm-up. The
// timed steps of a run are those of its budget, divided among the slices.
//
// A worker that fails costs its own run; the others go on. Not aware of studies or of the store.
// Thread safety: one set at a time per process, on the main thread.

#include <functional>
#include <span>
#include <vector>

#include "base/stop_token.h"
#include "record/sentinel_reading.h"
#include "run/session/run_request.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct TurnSetOptions {
  int64_t slices = 1;  // per run
  uint64_t seed = 0;   // of the order of each pass
  // Times the noise sentinel before the first pass and after every pass; may be null.
  std::function<SentinelReading()> read_sentinel = {};
};

// `run` is a position in the requests.
using TurnProgress = std::function<void(size_t run, const RunProgress& progress)>;

// The requests have equal numbers of fixed steps, at least as many as slices, and `turns`. Results
// in their order. Never fails: a failure is a record's outcome. A requested stop ends the workers
// with the outcome `interrupted`.
std::vector<RunResult> RunInTurns(WorkerCatalog& workers, std::span<const RunRequest> requests,
                                  const TurnSetOptions& options, const TurnProgress& progress,
                                  StopToken stop);

}  // namespace tench
