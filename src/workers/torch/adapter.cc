// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/adapter.h"

#include <ATen/ops/zeros_like.h>
#include <torch/headeronly/version.h>

#include <algorithm>

#include "worker/common_settings.h"
#include "worker/framework_error.h"
#include "workers/torch/device.h"
#include "workers/torch/frozen_module.h"
#include "workers/torch/knobs.h"
#include "workers/torch/step.h"

namespace tench::pytorch {
namespace {

class TorchAdapter final : public Adapter {
 public:
  Description Describe() override {
    Description description;
    description.name = "torch";
    description.version =
        fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
    description.ops.assign(OpAbilities().begin(), OpAbilities().end());
    description.updates = SolverAbilities();
    description.precisions = {"f32"};
    description.options = KnobOptions();
    description.tuning = KnobCandidates();
    AddSpinCandidate(description);
    AddCommonSettings(description);
    description.facts = LibraryFacts();
    description.facts["cannot_use"] =
        "torch.compile, which captures Python programs: its numbers are of eager mode, or of a "
        "frozen TorchScript module (phase forward); torch-python has the option mode=compile";
    description.facts["algorithm.gemm"] = "option.kernels=own";
    DescribeDevices(Gpus(), description);
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    return Guarded([&] { return BuildNetwork(graph, options); });
  }

  Status SetParameters(const TensorSource& source) override {
    return Guarded([&]() -> Status {
      if (update_ != nullptr) update_->Clear();
      frozen_.reset();
      return ForEachParameter(true, [&](const Parameter& parameter, size_t i) {
        return Read(parameter.name, network_->parameters()[i], source);
      });
    });
  }

  Status Parameters(const TensorSink& sink) override {
    return ForEachParameter(true, [&](const Parameter& parameter, size_t i) {
      return sink(parameter.name, CopyToHost(network_->parameters()[i]));
    });
  }

  Status SetState(const TensorSource& source) override {
    return Guarded([&] {
      frozen_.reset();
      return ForEachState([&](const std::string& name, const at::Tensor& tensor) {
        return Read(name, tensor, source);
      });
    });
  }

  Status State(const TensorSink& sink) override {
    return ForEachState([&](const std::string& name, const at::Tensor& tensor) {
      return sink(name, CopyToHost(tensor));
    });
  }

  Status SetBatch(std::span<const HostTensor> inputs) override {
    return Guarded([&]() -> Status {
      size_t next = 0;
      for (size_t i = 0; i < network_->graph().layers.size(); ++i) {
        if (!std::holds_alternative<Input>(network_->graph().layers[i].layer.op)) continue;
        Check(next < inputs.size(), "a batch with too few inputs");
        network_->SetInput(i, inputs[next++]);
      }
      return Freeze();
    });
  }

  Status SetLearningRate(double lr) override {
    if (update_ != nullptr) update_->SetRate(lr);
    return Ok();
  }

  Status Resume(int64_t steps) override {
    if (update_ != nullptr) update_->Resume(steps);
    return Ok();
  }

  Result<double> Step(Phase phase) override {
    Check(phase == options_.phase, "a step of a phase that was not built");
    if (profile_ != nullptr && steps_ == TracedBatches()) profile_->Record(false);
    ++steps_;
    return Guarded([&]() -> Result<double> {
      if (freezes_) {
        TENCH_TRY(Freeze());
        return RunFrozenStep(*frozen_, device_);
      }
      return RunStep(*network_, update_.get(), phase, device_, profile_.get());
    });
  }

  Status Gradients(const TensorSink& sink) override {
    return ForEachParameter(true, [&](const Parameter& parameter, size_t i) -> Status {
      const at::Tensor& gradient = network_->parameters()[i].grad();
      return sink(
          parameter.name,
          CopyToHost(gradient.defined() ? gradient : at::zeros_like(network_->parameters()[i])));
    });
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    if (!options_.observe) return Failed("outputs were not kept: this is no observing build");
    const std::vector<TypedLayer>& known = network_->graph().layers;
    for (const std::string& name : layers) {
      const auto layer =
          std::ranges::find_if(known, [&](const TypedLayer& l) { return l.layer.name == name; });
      if (layer == known.end() || layer->output.dtype != DType::kF32)
        return Failed("layer '{}' has no output of numbers", name);
      TENCH_TRY(
          sink(name, CopyToHost(network_->output(static_cast<size_t>(layer - known.begin())))));
    }
    return Ok();
  }

  void RestartProfile() override {
    steps_ = 0;
    if (profile_ == nullptr) return;
    profile_->Clear();
    profile_->Record(TracedBatches() > 0);
  }

  Result<std::vector<TraceEvent>> Trace() override {
    if (profile_ == nullptr) return Failed("this build was not profiled");
    return profile_->Events(network_->graph());
  }

  Result<std::vector<ProfileRow>> Profile() override {
    if (profile_ == nullptr) return Failed("this build was not profiled");
    return profile_->Rows(network_->graph(), steps_);
  }

 private:
  int64_t TracedBatches() const { return options_.traced_steps * options_.solver.iter_size; }

  Result<BuildFacts> BuildNetwork(const TypedGraph& graph, const BuildOptions& options) {
    if (options.precision != "f32")
      return Unsupported("precision '{}': this worker computes in f32", options.precision);
    const Knobs knobs = TENCH_TRY(KnobsOf(options.options));
    device_ = TENCH_TRY(OpenDevice(options.device, options.threads));
    // Parity trains the observing build of a cell in phase forward; such a build never freezes.
    if (knobs.frozen && options.phase != Phase::kForward && !options.observe)
      return Unsupported("option module=frozen: a frozen module has no backward pass (phase {})",
                         Name(options.phase));
    if (options.profile && !device_.is_cpu())
      return Unsupported("profiles are supported on the CPU only, not on {}", options.device);
    Release();
    options_ = options;
    BuildFacts facts;
    // Autograd leaves a gradient in every leaf, and none is cleared before the next step.
    facts.gradients_materialized = options.phase == Phase::kGradient;
    Apply(knobs);
    const bool training = options.phase != Phase::kForward;
    network_ = TENCH_TRY(Network::Make(
        graph, {device_, training, options.dropout, options.observe, knobs.channels_last}));
    if (options.phase == Phase::kTrain) {
      update_ =
          std::make_unique<Update>(graph, network_->parameters(), options.solver, options.observe);
    }
    SeedDropout(options.seed);
    if (options.profile) profile_ = std::make_unique<pytorch::Profile>();
    // An observing or profiled build needs every layer's output, which a frozen graph fuses away.
    freezes_ = knobs.frozen && !options.observe && !options.profile;
    return facts;
  }

  // The weights are known only after the build. They are frozen off the clock, before the first
  // step with them.
  Status Freeze() {
    if (freezes_ && frozen_ == nullptr) frozen_ = TENCH_TRY(FrozenModule::Make(*network_));
    return Ok();
  }

  void Release() {
    frozen_.reset();
    profile_.reset();
    update_.reset();
    network_.reset();
    steps_ = 0;
  }

  static Status Read(const std::string& name, const at::Tensor& tensor,
                     const TensorSource& source) {
    const auto count = static_cast<size_t>(tensor.numel());
    if (tensor.is_cpu() && tensor.is_contiguous())
      return source(name, {static_cast<float*>(tensor.data_ptr()), count});
    std::vector<float> values(count);
    TENCH_TRY(source(name, values));
    CopyFromHost(values, tensor);
    return Ok();
  }

  Status ForEachParameter(bool trained,
                          const std::function<Status(const Parameter&, size_t)>& visit) {
    const std::vector<Parameter>& parameters = network_->graph().parameters;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].trained == trained) TENCH_TRY(visit(parameters[i], i));
    return Ok();
  }

  // Visits the running statistics and the momenta.
  Status ForEachState(const std::function<Status(const std::string&, const at::Tensor&)>& visit) {
    TENCH_TRY(ForEachParameter(false, [&](const Parameter& parameter, size_t i) {
      return visit(parameter.name, network_->parameters()[i]);
    }));
    if (update_ == nullptr) return Ok();
    return ForEachParameter(true, [&](const Parameter& parameter, size_t i) -> Status {
      const at::Tensor &momentum = update_->momenta()[i], &momentum2 = update_->momenta2()[i];
      if (momentum.defined()) TENCH_TRY(visit(parameter.name + ".momentum", momentum));
      return momentum2.defined() ? visit(parameter.name + ".momentum2", momentum2) : Ok();
    });
  }

  BuildOptions options_;
  c10::Device device_ = c10::kCPU;
  std::unique_ptr<Network> network_;
  std::unique_ptr<FrozenModule> frozen_;  // made with the first batch
  bool freezes_ = false;
  std::unique_ptr<Update> update_;             // only in phase train
  std::unique_ptr<pytorch::Profile> profile_;  // null unless requested
  int64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Adapter> MakeTorchAdapter() { return std::make_unique<TorchAdapter>(); }

}  // namespace tench::pytorch
