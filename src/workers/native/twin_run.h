// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: one network run by the reference and by the native adapter from the same bits, and how far the two are apart.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/data_set.h"
#include "net/fill.h"
#include "net/graph.h"
#include "worker/adapter.h"

namespace tench::native {

struct RunRecord {
  std::vector<double> losses;
  std::map<std::string, std::vector<float>> parameters, state, gradients, outputs;   // after the last step
};

struct RunPlan {
  Phase phase = Phase::kTrain;
  bool observe = true;
  int64_t threads = 2;
  int steps = 1;           // with the learning rate dropped to a tenth after the second
  std::map<std::string, std::string> options;
};

inline Result<RunRecord> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch, const RunPlan& plan) {
  const TypedGraph typed = TENCH_TRY(Infer(plan.phase == Phase::kForward ? InferenceGraph(graph) : graph, batch));
  BuildOptions options;
  options.threads = plan.threads;
  options.phase = plan.phase;
  options.dropout = false;
  options.observe = plan.observe;
  options.options = plan.options;
  TENCH_TRY(adapter.Build(typed, options));
  std::map<std::string, Fill> fills;
  for (const Parameter& parameter : typed.parameters) fills[parameter.name] = parameter.fill;
  const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
    const auto fill = fills.find(name);
    FillTensor(1, name, fill == fills.end() ? Fill{} : fill->second, 0, out);
    return Ok();
  };
  TENCH_TRY(adapter.SetParameters(source));
  TENCH_TRY(adapter.SetState(source));
  std::vector<HostTensor> inputs;
  MakeBatch(typed, {1, batch, 0}, 0, inputs);
  TENCH_TRY(adapter.SetBatch(inputs));

  RunRecord record;
  for (int step = 0; step < plan.steps; ++step) {
    if (step == 2) TENCH_TRY(adapter.SetLearningRate(0.1 * options.solver.lr));
    record.losses.push_back(TENCH_TRY(adapter.Step(plan.phase)));
  }
  const auto into = [](std::map<std::string, std::vector<float>>& map) {
    return [&map](const std::string& name, std::span<const float> values) -> Status {
      map[name].assign(values.begin(), values.end());
      return Ok();
    };
  };
  TENCH_TRY(adapter.Parameters(into(record.parameters)));
  TENCH_TRY(adapter.State(into(record.state)));
  if (!plan.observe) return record;
  if (plan.phase != Phase::kForward) TENCH_TRY(adapter.Gradients(into(record.gradients)));
  std::vector<std::string> names;
  for (const TypedLayer& layer : typed.layers) {
    if (layer.output.dtype == DType::kF32 && !layer.output.shape.empty()) names.push_back(layer.layer.name);
  }
  TENCH_TRY(adapter.Outputs(names, into(record.outputs)));
  return record;
}

// The norm of the difference over the norm; `floor` keeps tensors that are nothing but rounding from mattering.
inline double RelativeError(const std::vector<float>& expected, const std::vector<float>& got, double floor = 1e-7) {
  if (expected.size() != got.size()) return 1e9;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (double{expected[i]} - got[i]) * (double{expected[i]} - got[i]);
    norm += double{expected[i]} * expected[i];
  }
  if (std::isnan(difference)) return 1e9;
  return std::sqrt(difference) / std::max(std::sqrt(norm), floor * std::sqrt(static_cast<double>(expected.size())));
}

}  // namespace tench::native
