// SPDX-License-Identifier: Apache-2.0
// The reference worker with one injected fault, selected by the option `fault`. Each fault has
// occurred in real ports of networks between frameworks, and is in a kernel, the update, the graph
// or the weight layout. Only for tests. The worker serves two versions, as a worker that loads its
// framework at run time does; the newer one, wrong@9, always flips filters.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "worker/serve.h"
#include "workers/reference/adapter.h"
#include "wrong_kernel.h"
#include "wrong_update.h"

namespace tench {
namespace {

const std::vector<std::string> kFaults = {
    "none", "flipped_filter", "no_auxiliary_loss", "pool_rounding", "biased_variance", "two_biases",
    "outer_rate", "no_dropout", "unscaled_dropout", "no_dilation", "dead_gradient",
    // Faults that a deep network hides.
    "no_decay", "wrong_momentum", "no_bias_update", "dropped_shortcut", "swapped_shortcut",
    "frozen_statistics", "zero_layer_gradient", "unmasked_dropout", "repeated_mask", "shared_mask",
    "frozen_inference", "shifted_logits",
    // Faults of the timed build alone.
    "timed_decay", "timed_gradient", "timed_inference",
    // No fault: too little memory for observing builds of more than a few samples.
    "observed_memory"};
constexpr const char* kSilentLayer = "stage2/block2/conv2";
constexpr int64_t kMostObservedSamples = 6;
constexpr float kLogitShift = 0.5f;
constexpr const char* kNewVersion = "9.0";

bool IsNewVersion() {
  const char* wanted = std::getenv("TENCH_WORKER_VERSION");
  return wanted != nullptr && std::string_view(kNewVersion).starts_with(wanted);
}

class WrongAdapter final : public Adapter {
 public:
  Description Describe() override {
    Description description = inner_->Describe();
    description.name = "wrong";
    if (IsNewVersion()) description.version = kNewVersion;
    description.options = {{"fault", "the mistake to make", fault_, kFaults}};
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    BuildOptions changed = options;
    changed.options.clear();
    if (const auto found = options.options.find("fault"); found != options.options.end())
      fault_ = found->second;
    if (fault_ == "no_dropout") changed.dropout = false;
    if (fault_ == "no_decay" || (fault_ == "timed_decay" && !options.observe))
      changed.solver.weight_decay = 0;
    if (fault_ == "wrong_momentum") changed.solver.momentum *= 0.98;
    if (fault_ == "observed_memory" && options.observe &&
        graph.layers.front().output.shape[0] > kMostObservedSamples)
      return Error{"out of memory", ErrorKind::kOutOfMemory};
    observe_ = options.observe;
    phase_ = options.phase;
    graph_ = TENCH_TRY(Spoil(graph));
    if (options.phase == Phase::kTrain && (fault_ == "outer_rate" || fault_ == "two_biases")) {
      update_.emplace(fault_ == "outer_rate" ? WrongUpdate::Mistake::kOuterRate
                                             : WrongUpdate::Mistake::kTwoBiases,
                      graph_, options.solver);
      changed.phase = Phase::kGradient;
    }
    inner_ = MakeReferenceAdapter([this](const KernelSite& site) { return MakeWrongKernel(site); });
    return inner_->Build(graph_, changed);
  }

  Status SetParameters(const TensorSource& source) override {
    return inner_->SetParameters([&](const std::string& name, std::span<float> out) -> Status {
      TENCH_TRY(source(name, out));
      Flip(name, out);
      // A softmax does not change if all its logits are shifted, and its loss neither.
      if (fault_ == "shifted_logits" && phase_ == Phase::kForward && name == "fc.bias")
        for (float& value : out) value += kLogitShift;
      return Ok();
    });
  }
  Status Parameters(const TensorSink& sink) override { return inner_->Parameters(Flipped(sink)); }
  Status Gradients(const TensorSink& sink) override {
    return inner_->Gradients([&](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      if (fault_ == "dead_gradient" && name.ends_with(".bias"))
        std::fill(copy.begin(), copy.end(), 0.0f);
      Flip(name, copy);
      return sink(name, copy);
    });
  }

  Status SetState(const TensorSource& source) override { return inner_->SetState(source); }
  Status State(const TensorSink& sink) override {
    TENCH_TRY(inner_->State(sink));
    return update_ ? update_->Momenta(sink) : Ok();
  }

  Status SetBatch(std::span<const HostTensor> inputs) override { return inner_->SetBatch(inputs); }

  Status SetLearningRate(double lr) override {
    if (update_) update_->SetLearningRate(lr);
    return inner_->SetLearningRate(lr);
  }

  Result<double> Step(Phase phase) override {
    if (!update_) return inner_->Step(phase);
    const double loss = TENCH_TRY(inner_->Step(Phase::kGradient));
    TENCH_TRY(update_->Apply(*inner_));
    return loss;
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    return inner_->Outputs(layers, sink);
  }

 private:
  std::unique_ptr<Kernel> MakeWrongKernel(const KernelSite& site) const {
    const Op& op = site.graph.layers[site.layer].layer.op;
    if (const auto* norm = std::get_if<BatchNorm>(&op);
        norm != nullptr && fault_ == "biased_variance")
      return MakeBiasedBatchNorm(*norm, site);
    if (const auto* dropout = std::get_if<Dropout>(&op)) {
      if (fault_ == "unscaled_dropout")
        return MakeWrongDropout(*dropout, site, DropoutFault::kUnscaled);
      if (fault_ == "unmasked_dropout")
        return MakeWrongDropout(*dropout, site, DropoutFault::kUnmaskedBackward);
      if (fault_ == "repeated_mask")
        return MakeWrongDropout(*dropout, site, DropoutFault::kRepeatedMask);
      if (fault_ == "shared_mask")
        return MakeWrongDropout(*dropout, site, DropoutFault::kSharedMask);
    }
    const bool silent =
        fault_ == "zero_layer_gradient" || (fault_ == "timed_gradient" && !observe_);
    if (silent && site.name() == kSilentLayer) return MakeSilentKernel(site);
    return MakeKernel(site);
  }

  // Shapes are inferred from the changed ops, as a framework would do.
  Result<TypedGraph> Spoil(const TypedGraph& graph) const {
    Graph spoilt{graph.name, {}};
    for (const TypedLayer& layer : graph.layers) {
      spoilt.layers.push_back(layer.layer);
      Op& op = spoilt.layers.back().op;
      if (auto* pool = std::get_if<Pooling>(&op); fault_ == "pool_rounding" && pool != nullptr)
        pool->ceil_mode = false;
      if (auto* conv = std::get_if<Convolution>(&op); fault_ == "no_dilation" && conv != nullptr) {
        conv->pad = {conv->pad.h - (conv->dilation.h - 1) * (conv->kernel.h - 1) / 2,
                     conv->pad.w - (conv->dilation.w - 1) * (conv->kernel.w - 1) / 2};
        conv->dilation = {1, 1};
      }
    }
    for (Layer& layer : spoilt.layers) SpoilLayer(layer);
    TypedGraph typed = TENCH_TRY(Infer(spoilt, graph.layers.front().output.shape[0]));
    for (Parameter& parameter : typed.parameters) {
      if (fault_ == "no_bias_update" && parameter.name.ends_with(".bias")) parameter.lr_mult = 0;
    }
    for (TypedLayer& layer : typed.layers) {
      auto* softmax = std::get_if<SoftmaxCrossEntropy>(&layer.layer.op);
      if (fault_ == "no_auxiliary_loss" && softmax != nullptr && softmax->auxiliary)
        softmax->loss_weight = 0;
    }
    return typed;
  }

  // Faults in one place of a residual network.
  void SpoilLayer(Layer& layer) const {
    if (auto* sum = std::get_if<Add>(&layer.op);
        sum != nullptr && fault_ == "dropped_shortcut" && layer.name == "stage3/block4/add")
      sum->coefficients = {1, 0};
    if (fault_ == "swapped_shortcut" && layer.name == "stage3/block4/add")
      layer.inputs[1] = "stage3/block2/relu";
    auto* norm = std::get_if<BatchNorm>(&layer.op);
    if (norm != nullptr && fault_ == "frozen_statistics" && layer.name == "stage3/block4/bn2")
      norm->momentum = 0;
    // As if the variance were taken without its epsilon, in inference alone.
    const bool inference =
        phase_ == Phase::kForward &&
        (fault_ == "frozen_inference" || (fault_ == "timed_inference" && !observe_));
    if (norm != nullptr && inference) norm->eps += 0.01;
  }

  void Flip(const std::string& name, std::span<float> values) const {
    if (fault_ != "flipped_filter") return;
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.name != name || parameter.shape.size() != 4) continue;
      const size_t plane = static_cast<size_t>(parameter.shape[2] * parameter.shape[3]);
      for (size_t at = 0; at < values.size(); at += plane)
        std::reverse(values.begin() + static_cast<int64_t>(at),
                     values.begin() + static_cast<int64_t>(at + plane));
    }
  }

  TensorSink Flipped(const TensorSink& sink) const {
    return [this, sink](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      Flip(name, copy);
      return sink(name, copy);
    };
  }

  std::unique_ptr<Adapter> inner_ = MakeReferenceAdapter();
  TypedGraph graph_;
  std::string fault_ = IsNewVersion() ? "flipped_filter" : "none";
  bool observe_ = false;
  Phase phase_ = Phase::kTrain;
  std::optional<WrongUpdate> update_;
};

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] {
    return std::unique_ptr<tench::Adapter>(std::make_unique<tench::WrongAdapter>());
  });
}
