// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/adapter.h"

#include <map>

#include "base/text.h"
#include "workers/reference/network.h"
#include "workers/reference/update.h"

namespace tench {
namespace {

constexpr double kMaxJitter = 1e6;

Result<double> JitterOf(const BuildOptions& options) {
  const auto found = options.options.find("jitter");
  if (found == options.options.end()) return 0.0;
  const Result<double> jitter = ParseReal(found->second);
  if (!jitter || !(*jitter >= 0 && *jitter <= kMaxJitter))
    return Failed("option jitter is '{}'; it must be a number from 0 to {}", found->second,
                  kMaxJitter);
  return *jitter;
}

class ReferenceAdapter final : public Adapter {
 public:
  explicit ReferenceAdapter(KernelMaker make_kernel) : make_kernel_(std::move(make_kernel)) {}

  Description Describe() override {
    Description description;
    description.name = "reference";
    description.version = TENCH_VERSION;
    description.role = Role::kOracle;
    description.ops.assign(OpAbilities().begin(), OpAbilities().end());
    description.updates = SolverAbilities();
    description.devices = {"cpu"};
    description.precisions = {"f32"};
    description.options = {
        {"jitter",
         "perturbs every result of every op at random by up to this many units in the last place",
         "0",
         {}},
        {"jitter_seed", "seed of the jitter, an integer", "0", {}}};
    description.facts = {{"accumulation", "f64"}};
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    options_ = options;
    const double jitter = TENCH_TRY(JitterOf(options));
    int64_t jitter_seed = 0;
    if (const auto found = options.options.find("jitter_seed"); found != options.options.end())
      jitter_seed = TENCH_TRY(ParseInteger(found->second).In("option jitter_seed"));
    network_ = std::make_unique<Network>(
        graph, NetworkOptions{options.phase != Phase::kForward, options.observe, options.threads,
                              jitter, jitter_seed, make_kernel_});
    update_.reset();
    if (options.phase == Phase::kTrain)
      update_ = std::make_unique<Update>(*network_, options.solver);
    return BuildFacts{network_->bytes() + (update_ ? update_->bytes() : 0),
                      {},
                      options.phase == Phase::kGradient};
  }

  Status SetParameters(const TensorSource& source) override {
    if (update_) update_->Reset();
    return ForEachParameter([&](const Parameter& parameter, size_t i) -> Status {
      return parameter.trained ? source(parameter.name, network_->parameter(i)) : Ok();
    });
  }

  Status Parameters(const TensorSink& sink) override {
    return ForEachParameter([&](const Parameter& parameter, size_t i) -> Status {
      return parameter.trained ? sink(parameter.name, network_->parameter(i)) : Ok();
    });
  }

  Status SetState(const TensorSource& source) override {
    return ForEachState(
        [&](const std::string& name, std::vector<float>& values) { return source(name, values); });
  }

  Status State(const TensorSink& sink) override {
    return ForEachState(
        [&](const std::string& name, std::vector<float>& values) { return sink(name, values); });
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    size_t next = 0;
    for (size_t layer = 0; layer < network_->graph().layers.size(); ++layer) {
      if (std::holds_alternative<Input>(network_->graph().layers[layer].layer.op))
        network_->SetInput(layer, inputs[next++]);
    }
    return Ok();
  }

  Status SetLearningRate(double lr) override {
    if (update_) update_->SetLearningRate(lr);
    return Ok();
  }

  Status Resume(int64_t steps) override {
    if (update_) update_->Resume(steps);
    step_ = steps * options_.solver.iter_size;
    return Ok();
  }

  Result<double> Step(Phase phase) override {
    const double loss =
        network_->Forward({phase != Phase::kForward, options_.dropout, options_.seed, step_++});
    if (phase != Phase::kForward) network_->Backward();
    if (phase == Phase::kTrain) update_->Run();
    return loss;
  }

  Status Gradients(const TensorSink& sink) override {
    return ForEachParameter([&](const Parameter& parameter, size_t i) -> Status {
      return parameter.trained ? sink(parameter.name, network_->gradient(i)) : Ok();
    });
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    std::map<std::string_view, size_t> index;
    for (size_t i = 0; i < network_->graph().layers.size(); ++i)
      index[network_->graph().layers[i].layer.name] = i;
    for (const std::string& name : layers) {
      const auto found = index.find(name);
      if (found == index.end() || network_->Output(found->second).empty())
        return Failed("layer '{}' has no output of numbers", name);
      TENCH_TRY(sink(name, network_->Output(found->second)));
    }
    return Ok();
  }

 private:
  Status ForEachParameter(const std::function<Status(const Parameter&, size_t)>& visit) {
    const std::vector<Parameter>& parameters = network_->graph().parameters;
    for (size_t i = 0; i < parameters.size(); ++i) TENCH_TRY(visit(parameters[i], i));
    return Ok();
  }

  // Visits the running statistics and the solver's momenta.
  Status ForEachState(const std::function<Status(const std::string&, std::vector<float>&)>& visit) {
    return ForEachParameter([&](const Parameter& parameter, size_t i) -> Status {
      if (!parameter.trained) return visit(parameter.name, network_->parameter(i));
      return update_ ? update_->ForEachState(i, visit) : Ok();
    });
  }

  const KernelMaker make_kernel_;
  BuildOptions options_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Update> update_;  // only in the phase train
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Adapter> MakeReferenceAdapter(KernelMaker make_kernel) {
  return std::make_unique<ReferenceAdapter>(std::move(make_kernel));
}

}  // namespace tench
