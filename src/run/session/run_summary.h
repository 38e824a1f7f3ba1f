// SPDX-License-Identifier: Apache-2.0
#pragma once
// The few numbers of a run, from what the worker said and what was seen from outside. Pure.

#include "base/subprocess.h"
#include "machine/gpu_series.h"
#include "record/sample_series.h"
#include "run/session/protocol_state.h"
#include "store/record.h"

namespace tench {

struct Observations {
  SampleSeries samples;
  GpuSeries gpus;
  size_t gpu = 0;  // which of them the run is about
  std::optional<double> cpu_energy_j;
  std::optional<ExitStatus> exit;
  std::optional<int64_t> hello_ns;  // launch to hello
  int64_t wall_ns = 0, overhead_ns = 0;
};

// What the series alone tells: steps, their times, the first and the last loss.
void AddSteps(const RunSeries& series, RunSummary& summary);

RunSummary Summarise(const Conversation& conversation, const Budget& budget,
                     const Observations& seen);

}  // namespace tench
