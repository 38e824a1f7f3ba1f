// SPDX-License-Identifier: Apache-2.0
// The reference worker with one mistake, chosen by the option `fault`: each is one that real ports of networks between frameworks have
// made. Only for tests; the mistakes are made at the adapter's edge, so that the reference itself stays free of them.
#include <algorithm>
#include <cmath>
#include <map>

#include "worker/serve.h"
#include "workers/reference/adapter.h"

namespace tench {
namespace {

const std::vector<std::string> kFaults = {"none",          "flipped_filter", "no_auxiliary_loss", "pool_rounding",
                                          "biased_variance", "two_biases",     "outer_rate",        "no_dropout",
                                          "unscaled_dropout", "no_dilation",    "dead_gradient"};

class WrongAdapter final : public Adapter {
 public:
  Description Describe() override {
    Description description = inner_->Describe();
    description.name = "wrong";
    description.options = {{"fault", "the mistake to make", "none", kFaults}};
    return description;
  }

  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    graph_ = graph;
    BuildOptions changed = options;
    changed.options.clear();
    if (const auto found = options.options.find("fault"); found != options.options.end()) fault_ = found->second;
    lr_ = options.solver.lr;
    if (fault_ == "no_dropout") changed.dropout = false;
    for (TypedLayer& layer : graph_.layers) Spoil(layer);
    if (fault_ == "two_biases") {
      for (Parameter& parameter : graph_.parameters)
        if (std::holds_alternative<Lstm>(graph_.layers[parameter.layer].layer.op) && parameter.name.ends_with(".bias"))
          parameter.lr_mult *= 2;
    }
    return inner_->Build(graph_, changed);
  }

  Status SetParameters(const TensorSource& source) override {
    return inner_->SetParameters([&](const std::string& name, std::span<float> out) -> Status {
      TENCH_TRY(source(name, out));
      Flip(name, out);
      return Ok();
    });
  }
  Status Parameters(const TensorSink& sink) override { return inner_->Parameters(Flipped(sink)); }
  Status Gradients(const TensorSink& sink) override {
    return inner_->Gradients([&](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      if (fault_ == "dead_gradient" && name.ends_with(".bias")) std::fill(copy.begin(), copy.end(), 0.0f);
      Flip(name, copy);
      return sink(name, copy);
    });
  }

  Status SetState(const TensorSource& source) override { return inner_->SetState(source); }
  Status State(const TensorSink& sink) override {
    return inner_->State([&](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      Bias(name, copy);
      return sink(name, copy);
    });
  }

  Status SetBatch(std::span<const HostTensor> inputs) override { return inner_->SetBatch(inputs); }

  // With the rate outside, v = m·v + g and w -= lr·v: the same as ours until the rate changes, which then rescales all of v.
  Status SetLearningRate(double lr) override {
    if (fault_ == "outer_rate" && lr != lr_ && lr_ > 0) TENCH_TRY(ScaleMomenta(lr / lr_));
    lr_ = lr;
    return inner_->SetLearningRate(lr);
  }

  Result<double> Step(Phase phase) override {
    ++steps_;
    return inner_->Step(phase);
  }

  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    return inner_->Outputs(layers, [&](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      for (const TypedLayer& layer : graph_.layers) {
        const Dropout* dropout = std::get_if<Dropout>(&layer.layer.op);
        if (fault_ != "unscaled_dropout" || dropout == nullptr || layer.layer.name != name) continue;
        for (float& value : copy) value *= static_cast<float>(1 - dropout->ratio);
      }
      return sink(name, copy);
    });
  }

 private:
  void Spoil(TypedLayer& layer) const {
    if (auto* softmax = std::get_if<SoftmaxCrossEntropy>(&layer.layer.op); fault_ == "no_auxiliary_loss" && softmax != nullptr) {
      if (softmax->auxiliary) softmax->loss_weight = 0;
    }
    if (auto* pool = std::get_if<Pooling>(&layer.layer.op); fault_ == "pool_rounding" && pool != nullptr && pool->ceil_mode) {
      // Floor mode has no last, cut-off window; whoever pads the picture at the other end to get the size right shifts every window.
      pool->pad = {pool->kernel.h / 2, pool->kernel.w / 2};
    }
    if (auto* conv = std::get_if<Convolution>(&layer.layer.op); fault_ == "no_dilation" && conv != nullptr && conv->dilation.h > 1) {
      conv->dilation = {1, 1};
    }
  }

  bool IsFilter(const std::string& name) const {
    if (fault_ != "flipped_filter" || !name.ends_with(".weight")) return false;
    for (const Parameter& parameter : graph_.parameters)
      if (parameter.name == name) return parameter.shape.size() == 4;
    return false;
  }

  void Flip(const std::string& name, std::span<float> values) const {
    if (!IsFilter(name)) return;
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.name != name) continue;
      const size_t plane = static_cast<size_t>(parameter.shape[2] * parameter.shape[3]);
      for (size_t at = 0; at < values.size(); at += plane)
        std::reverse(values.begin() + static_cast<int64_t>(at), values.begin() + static_cast<int64_t>(at + plane));
    }
  }

  TensorSink Flipped(const TensorSink& sink) const {
    return [this, sink](const std::string& name, std::span<const float> values) {
      std::vector<float> copy(values.begin(), values.end());
      Flip(name, copy);
      return sink(name, copy);
    };
  }

  // What the running variance would be, had every batch given its biased variance: the part that the batches gave is smaller.
  void Bias(const std::string& name, std::vector<float>& values) const {
    if (fault_ != "biased_variance" || !name.ends_with(".running_var")) return;
    for (const Parameter& parameter : graph_.parameters) {
      if (parameter.name != name) continue;
      const TypedLayer& layer = graph_.layers[parameter.layer];
      const double momentum = std::get<BatchNorm>(layer.layer.op).momentum;
      const double count = static_cast<double>(ElementCount(layer.output.shape) / parameter.shape[0]);
      const double kept = std::pow(1 - momentum, static_cast<double>(steps_));   // of the initial value, which is 1
      for (float& value : values) value = static_cast<float>(kept + (value - kept) * (count - 1) / count);
    }
  }

  Status ScaleMomenta(double factor) {
    std::map<std::string, std::vector<float>> state;
    TENCH_TRY(inner_->State([&](const std::string& name, std::span<const float> values) {
      std::vector<float>& kept = state[name];
      kept.assign(values.begin(), values.end());
      if (name.ends_with(".momentum"))
        for (float& value : kept) value = static_cast<float>(value * factor);
      return Ok();
    }));
    return inner_->SetState([&](const std::string& name, std::span<float> out) {
      std::copy(state[name].begin(), state[name].end(), out.begin());
      return Ok();
    });
  }

  std::unique_ptr<Adapter> inner_ = MakeReferenceAdapter();
  TypedGraph graph_;
  std::string fault_ = "none";
  double lr_ = 0;
  int64_t steps_ = 0;
};

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] { return std::unique_ptr<tench::Adapter>(std::make_unique<tench::WrongAdapter>()); });
}
