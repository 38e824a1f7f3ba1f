// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scalar results of a run, computed from the worker's messages and from the samples of its
// process. Pure; not aware of how either was obtained.

#include "base/subprocess.h"
#include "machine/gpu_series.h"
#include "machine/withheld_time.h"
#include "record/energy_use.h"
#include "record/sample_series.h"
#include "run/session/protocol_state.h"
#include "store/record.h"

namespace tench {

// Measured from outside the worker.
struct Observations {
  SampleSeries samples;
  GpuSeries gpus;
  size_t gpu = 0;  // index of the run's GPU
  std::optional<double> cpu_energy_j;
  EnergyUse energy;  // over the timed steps
  std::optional<ExitStatus> exit;
  std::optional<int64_t> hello_ns;       // launch to hello
  std::optional<int64_t> first_step_ns;  // launch to the end of the first step
  WithheldShares withheld;
};

// Adds the results that depend only on the series: steps, their times, the first three losses and
// the last.
void AddSteps(const RunSeries& series, RunSummary& summary);

RunSummary Summarise(const ProtocolState& protocol, const Job& job, const Observations& seen);

}  // namespace tench
