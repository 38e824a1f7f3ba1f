// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: what the reference and the MXNet adapter are both asked to run.

#include <map>
#include <string>

#include "worker/adapter_run.h"

namespace tench::mxnet {

struct RunPlan {
  Phase phase = Phase::kTrain;
  bool observe = true;
  int steps = 1;           // the learning rate falls to a tenth after the second
  std::map<std::string, std::string> options;
  bool tuned = false;
  Solver solver = {};
};

inline Result<AdapterRun> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch, const RunPlan& plan) {
  BuildOptions options;
  options.threads = 2;
  options.phase = plan.phase;
  options.dropout = false;
  options.observe = plan.observe;
  options.options = plan.options;
  options.tuned = plan.tuned;
  options.solver = plan.solver;
  return RunGraph(adapter, graph, batch, options, plan.steps);
}

}  // namespace tench::mxnet
