// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: what the reference and the native adapter are both asked to run.

#include <map>
#include <string>

#include "worker/adapter_run.h"

namespace tench::native {

struct RunPlan {
  Phase phase = Phase::kTrain;
  bool observe = true;
  int64_t threads = 2;
  int steps = 1;           // with the learning rate dropped to a tenth after the second
  std::map<std::string, std::string> options;
  Solver solver = {};
};

inline Result<AdapterRun> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch, const RunPlan& plan) {
  BuildOptions options;
  options.threads = plan.threads;
  options.phase = plan.phase;
  options.dropout = false;
  options.observe = plan.observe;
  options.options = plan.options;
  options.solver = plan.solver;
  return RunGraph(adapter, graph, batch, options, plan.steps);
}

}  // namespace tench::native
