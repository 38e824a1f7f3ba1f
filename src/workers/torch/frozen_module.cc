// SPDX-License-Identifier: Apache-2.0
// Only this source includes TorchScript's large headers.
#include "workers/torch/frozen_module.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/frozen_graph_optimizations.h>
#include <torch/csrc/jit/passes/frozen_ops_to_mkldnn.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace tench::pytorch {
namespace {

namespace jit = torch::jit;

// The executor specialises the graph in its first runs; later ones compile nothing.
constexpr int kFirstRuns = 2;

class TracedModule final : public FrozenModule {
 public:
  TracedModule(const std::shared_ptr<jit::Graph>& graph, std::vector<at::Tensor> inputs)
      : executor_(graph, "forward", jit::SIMPLE), inputs_(std::move(inputs)) {}

  at::Tensor Forward() override {
    stack_.assign(inputs_.begin(), inputs_.end());
    executor_.run(stack_);
    return stack_.back().toTensor();
  }

 private:
  jit::GraphExecutor executor_;
  std::vector<at::Tensor> inputs_;
  jit::Stack stack_;
};

}  // namespace

Result<std::unique_ptr<FrozenModule>> FrozenModule::Make(Network& network) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < network.graph().layers.size(); ++i) {
    if (std::holds_alternative<Input>(network.graph().layers[i].layer.op))
      inputs.push_back(network.output(i));
  }
  const auto [state, outputs] = jit::tracer::trace(
      jit::Stack(inputs.begin(), inputs.end()),
      [&](const jit::Stack&) { return jit::Stack{network.Forward(nullptr)}; },
      [](const at::Tensor&) { return std::string(); }, /*strict=*/true, /*force_outplace=*/true);
  if (!outputs.back().isTensor() || !outputs.back().toTensor().defined())
    return Unsupported("option module=frozen needs a network with a loss");
  std::shared_ptr<jit::Graph> graph = state->graph;
  jit::OptimizeFrozenGraph(graph);
  jit::ConvertFrozenOpsToMKLDNN(graph);
  auto module = std::make_unique<TracedModule>(graph, std::move(inputs));
  for (int run = 0; run < kFirstRuns; ++run) module->Forward();
  return std::unique_ptr<FrozenModule>(std::move(module));
}

}  // namespace tench::pytorch
