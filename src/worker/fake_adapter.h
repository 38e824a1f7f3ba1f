// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: an adapter that computes nothing and records the calls. A test replaces the functions
// that it needs.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "worker/adapter.h"

namespace tench {

class FakeAdapter : public Adapter {
 public:
  Description Describe() override {
    Description description;
    description.name = "fake";
    description.version = "1.2";
    description.ops = {
        "input", "fc", "relu", "flatten", "mean_squared_error", "softmax_cross_entropy"};
    description.devices = {"cpu"};
    description.precisions = {"f32"};
    description.options = {{"layout", "of tensors", "nchw", {"nchw", "nhwc"}},
                           {"note", "anything", "", {}}};
    return description;
  }
  Result<BuildFacts> Build(const TypedGraph& graph, const BuildOptions& options) override {
    graph_ = graph;
    if (on_build) on_build(options);
    return BuildFacts{123, {{"kernel", "none"}}, true};
  }
  Status SetParameters(const TensorSource& source) override {
    for (const Parameter& parameter : graph_.parameters) {
      if (!parameter.trained) continue;
      values[parameter.name].resize(static_cast<size_t>(ElementCount(parameter.shape)));
      Status status = source(parameter.name, values[parameter.name]);
      if (!status.ok()) return status;
    }
    return Ok();
  }
  Status Parameters(const TensorSink& sink) override {
    for (const auto& [name, tensor] : values) {
      Status status = sink(name, tensor);
      if (!status.ok()) return status;
    }
    return Ok();
  }
  Status SetState(const TensorSource&) override { return Ok(); }
  Status State(const TensorSink&) override { return Ok(); }
  Status SetBatch(std::span<const HostTensor> inputs) override {
    batches.emplace_back(inputs.begin(), inputs.end());
    return Ok();
  }
  Status SetLearningRate(double lr) override {
    rates.push_back(lr);
    return Ok();
  }
  Result<double> Step(Phase) override {
    rates_at_step.push_back(rates.empty() ? -1 : rates.back());
    return on_step ? on_step(steps++) : Result<double>(static_cast<double>(steps++));
  }
  Status Gradients(const TensorSink& sink) override { return Parameters(sink); }
  void RestartProfile() override { profiled_from = steps; }
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    const std::vector<float> value = {42};
    for (const std::string& layer : layers) {
      Status status = sink(layer, value);
      if (!status.ok()) return status;
    }
    return Ok();
  }

  std::function<void(const BuildOptions&)> on_build;
  std::function<Result<double>(int64_t step)> on_step;
  std::map<std::string, std::vector<float>> values;
  std::vector<std::vector<HostTensor>> batches;
  std::vector<double> rates, rates_at_step;
  int64_t steps = 0, profiled_from = 0;

 private:
  TypedGraph graph_;
};

}  // namespace tench
