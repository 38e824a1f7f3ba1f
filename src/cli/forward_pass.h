// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the forward phase of a network over a number of batches in a worker process, and reads the
// outputs of layers. Nothing is stored.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "protocol/message.h"
#include "run/session/training.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct ForwardPass {
  const WorkerEntry* worker = nullptr;
  std::string version;  // as in a cell, or empty
  // Its phase, budget and requested tensors are set by the call; entries of tensors.load that the
  // network lacks are dropped.
  Job job;
  int64_t warmup_batches = 0, batches = 1;
  std::vector<std::string> outputs;  // layers; none = a timed build, whose layers may be fused
  // Called with the number of finished batches, warm-up included; may be null.
  std::function<void(int64_t)> progress;
};

struct ForwardAnswer {
  std::vector<int64_t> step_ns;  // of each batch after the warm-up
  std::vector<double> loss;
};

// `values` holds the output of each requested layer, in their order; called per batch.
using BatchOutputs =
    std::function<Status(int64_t batch, const std::vector<std::vector<float>>& values)>;

Result<ForwardAnswer> RunForward(ForwardPass pass, const BatchOutputs& on_batch, StopToken stop);

}  // namespace tench
