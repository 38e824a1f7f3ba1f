// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests of adapters: runs a network on an adapter from the bits that every worker generates,
// collects losses and tensors, and measures the relative error of two tensors.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/data_set.h"
#include "net/fill.h"
#include "worker/adapter.h"

namespace tench {

using Tensors = std::map<std::string, std::vector<float>>;

struct AdapterRun {
  std::vector<double> losses;
  Tensors parameters, state, gradients, outputs;  // after the last step
};

inline TensorSink Into(Tensors& tensors) {
  return [&tensors](const std::string& name, std::span<const float> values) -> Status {
    tensors[name].assign(values.begin(), values.end());
    return Ok();
  };
}

// Builds, and sets parameters, state and the first batch.
inline Result<BuildFacts> Prepare(Adapter& adapter, const TypedGraph& graph,
                                  const BuildOptions& options) {
  BuildFacts facts = TENCH_TRY(adapter.Build(graph, options));
  std::map<std::string, Fill> fills;
  for (const Parameter& parameter : graph.parameters) fills[parameter.name] = parameter.fill;
  const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
    FillTensor(1, name, fills.contains(name) ? fills[name] : Fill{}, 0, out);
    return Ok();
  };
  TENCH_TRY(adapter.SetParameters(source));
  TENCH_TRY(adapter.SetState(source));
  std::vector<HostTensor> inputs;
  MakeBatch(graph, {1, graph.batch, 0}, 0, inputs);
  TENCH_TRY(adapter.SetBatch(inputs));
  return facts;
}

// The learning rate drops to a tenth after the second step, which distinguishes a rate inside the
// momentum from a rate outside it.
inline Result<AdapterRun> RunGraph(Adapter& adapter, const Graph& graph, int64_t batch,
                                   const BuildOptions& options, int steps) {
  const TypedGraph typed =
      TENCH_TRY(Infer(options.phase == Phase::kForward ? InferenceGraph(graph) : graph, batch));
  TENCH_TRY(Prepare(adapter, typed, options));
  AdapterRun run;
  for (int step = 0; step < steps; ++step) {
    if (step == 2) TENCH_TRY(adapter.SetLearningRate(0.1 * options.solver.lr));
    run.losses.push_back(TENCH_TRY(adapter.Step(options.phase)));
  }
  TENCH_TRY(adapter.Parameters(Into(run.parameters)));
  TENCH_TRY(adapter.State(Into(run.state)));
  if (!options.observe) return run;
  if (options.phase != Phase::kForward) TENCH_TRY(adapter.Gradients(Into(run.gradients)));
  std::vector<std::string> names;
  for (const TypedLayer& layer : typed.layers) {
    if (layer.output.dtype == DType::kF32) names.push_back(layer.layer.name);
  }
  TENCH_TRY(adapter.Outputs(names, Into(run.outputs)));
  return run;
}

// One run, of an adapter or of the reference.
struct RunPlan {
  Phase phase = Phase::kTrain;
  bool observe = true;
  int64_t threads = 2;
  int steps = 1;
  std::map<std::string, std::string> options = {};
  Solver solver = {};
};

inline Result<AdapterRun> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch,
                                     const RunPlan& plan) {
  BuildOptions options;
  options.threads = plan.threads;
  options.phase = plan.phase;
  options.dropout = false;
  options.observe = plan.observe;
  options.options = plan.options;
  options.solver = plan.solver;
  return RunGraph(adapter, graph, batch, options, plan.steps);
}

// The 2-norm of the difference over the 2-norm of `expected`. `floor` per element bounds the
// denominator from below, for tensors of near-zero norm.
inline double RelativeError(const std::vector<float>& expected, const std::vector<float>& got,
                            double floor) {
  if (expected.size() != got.size()) return 1e9;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (double{expected[i]} - got[i]) * (double{expected[i]} - got[i]);
    norm += double{expected[i]} * expected[i];
  }
  if (std::isnan(difference)) return 1e9;
  return std::sqrt(difference) /
         std::max(std::sqrt(norm), floor * std::sqrt(static_cast<double>(expected.size())));
}

}  // namespace tench
