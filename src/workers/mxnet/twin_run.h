// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: a network run by an adapter from bits that every adapter makes the same, and how far two such runs are apart.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/data_set.h"
#include "net/fill.h"
#include "worker/adapter.h"

namespace tench::mxnet {

using Tensors = std::map<std::string, std::vector<float>>;

struct RunRecord {
  std::vector<double> losses;
  Tensors parameters, state, gradients, outputs;   // after the last step
};

struct RunPlan {
  Phase phase = Phase::kTrain;
  bool observe = true;
  int steps = 1;           // the learning rate falls to a tenth after the second
  std::map<std::string, std::string> options;
  bool tuned = false;
};

inline TensorSink Into(Tensors& tensors) {
  return [&tensors](const std::string& name, std::span<const float> values) -> Status {
    tensors[name].assign(values.begin(), values.end());
    return Ok();
  };
}

inline Status Prepare(Adapter& adapter, const TypedGraph& graph, const BuildOptions& options) {
  TENCH_TRY(adapter.Build(graph, options));
  const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
    Fill fill;
    for (const Parameter& parameter : graph.parameters) {
      if (parameter.name == name) fill = parameter.fill;
    }
    FillTensor(1, name, fill, 0, out);
    return Ok();
  };
  TENCH_TRY(adapter.SetParameters(source));
  TENCH_TRY(adapter.SetState(source));
  std::vector<HostTensor> inputs;
  MakeBatch(graph, {1, graph.batch, 0}, 0, inputs);
  return adapter.SetBatch(inputs);
}

inline Result<RunRecord> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch, const RunPlan& plan) {
  const TypedGraph typed = TENCH_TRY(Infer(plan.phase == Phase::kForward ? InferenceGraph(graph) : graph, batch));
  BuildOptions options;
  options.threads = 2;
  options.phase = plan.phase;
  options.dropout = false;
  options.observe = plan.observe;
  options.options = plan.options;
  options.tuned = plan.tuned;
  TENCH_TRY(Prepare(adapter, typed, options));
  RunRecord record;
  for (int step = 0; step < plan.steps; ++step) {
    if (step == 2) TENCH_TRY(adapter.SetLearningRate(0.1 * options.solver.lr));
    record.losses.push_back(TENCH_TRY(adapter.Step(plan.phase)));
  }
  TENCH_TRY(adapter.Parameters(Into(record.parameters)));
  TENCH_TRY(adapter.State(Into(record.state)));
  if (!plan.observe) return record;
  if (plan.phase != Phase::kForward) TENCH_TRY(adapter.Gradients(Into(record.gradients)));
  std::vector<std::string> names;
  for (const TypedLayer& layer : typed.layers) {
    if (layer.output.dtype == DType::kF32) names.push_back(layer.layer.name);
  }
  TENCH_TRY(adapter.Outputs(names, Into(record.outputs)));
  return record;
}

// The norm of the difference over the norm; tensors that are nothing but rounding are judged by 1e-6 per element.
inline double RelativeError(const std::vector<float>& expected, const std::vector<float>& got) {
  if (expected.size() != got.size()) return 1e9;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (double{expected[i]} - got[i]) * (double{expected[i]} - got[i]);
    norm += double{expected[i]} * expected[i];
  }
  if (std::isnan(difference)) return 1e9;
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-6 * std::sqrt(static_cast<double>(expected.size())));
}

}  // namespace tench::mxnet
