// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: one network run by an adapter from the bits that every worker generates, and how far two such runs are
// apart.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "data/data_set.h"
#include "net/fill.h"
#include "worker/adapter.h"

namespace tench::tensorflow {

using Tensors = std::map<std::string, std::vector<float>>;

struct Answers {
  std::vector<double> losses;
  Tensors parameters, state, gradients, outputs;  // after the last step
};

// The rate drops to a tenth after the second step, so that momentum inside the rate can be told from momentum outside
// it.
inline Result<Answers> RunNetwork(Adapter& adapter, const Graph& graph, int64_t batch, int steps,
                                  const BuildOptions& options) {
  const TypedGraph typed = TENCH_TRY(Infer(options.phase == Phase::kForward ? InferenceGraph(graph) : graph, batch));
  TENCH_TRY(adapter.Build(typed, options));
  std::map<std::string, Fill> fills;
  for (const Parameter& parameter : typed.parameters) fills[parameter.name] = parameter.fill;
  const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
    FillTensor(1, name, fills.contains(name) ? fills[name] : Fill{}, 0, out);
    return Ok();
  };
  TENCH_TRY(adapter.SetParameters(source));
  TENCH_TRY(adapter.SetState(source));
  std::vector<HostTensor> inputs;
  MakeBatch(typed, {1, batch, 0}, 0, inputs);
  TENCH_TRY(adapter.SetBatch(inputs));

  Answers answers;
  for (int step = 0; step < steps; ++step) {
    if (step == 2) TENCH_TRY(adapter.SetLearningRate(0.1 * options.solver.lr));
    answers.losses.push_back(TENCH_TRY(adapter.Step(options.phase)));
  }
  const auto into = [](Tensors& tensors) {
    return [&tensors](const std::string& name, std::span<const float> values) -> Status {
      tensors[name].assign(values.begin(), values.end());
      return Ok();
    };
  };
  TENCH_TRY(adapter.Parameters(into(answers.parameters)));
  TENCH_TRY(adapter.State(into(answers.state)));
  if (!options.observe) return answers;
  if (options.phase != Phase::kForward) TENCH_TRY(adapter.Gradients(into(answers.gradients)));
  std::vector<std::string> names;
  for (const TypedLayer& layer : typed.layers) {
    if (layer.output.dtype == DType::kF32 && !std::holds_alternative<Input>(layer.layer.op))
      names.push_back(layer.layer.name);
  }
  TENCH_TRY(adapter.Outputs(names, into(answers.outputs)));
  return answers;
}

// The norm of the difference over the norm; tensors that are nothing but rounding do not matter.
inline double Distance(const std::vector<float>& expected, const std::vector<float>& got) {
  if (expected.size() != got.size()) return 1e9;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double apart = double{expected[i]} - got[i];
    difference += apart * apart;
    norm += double{expected[i]} * expected[i];
  }
  if (std::isnan(difference)) return 1e9;
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-7 * std::sqrt(static_cast<double>(expected.size())));
}

}  // namespace tench::tensorflow
