// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: one kernel with its own inputs and parameters. Compares its gradients with central
// differences of a scalar: the kernel's loss, or for other ops a fixed random combination of its
// outputs.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "net/fill.h"
#include "net/op_parameters.h"
#include "net/op_shape.h"
#include "net/op_traits.h"
#include "workers/reference/kernel.h"

namespace tench {

inline Input DataInput(Shape sample) {
  return {InputRole::kData, std::move(sample), {FillKind::kGaussian, 0, 1}};
}
inline Input LabelInput(int64_t classes) {
  return {InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}};
}
inline Input TokenInput(int64_t time, int64_t vocabulary) {
  return {InputRole::kTokens, {time}, {FillKind::kInteger, 0, static_cast<double>(vocabulary)}};
}
inline Input LengthInput(int64_t time) {
  return {InputRole::kLengths, {}, {FillKind::kInteger, 1, static_cast<double>(time + 1)}};
}

class KernelProbe {
 public:
  KernelProbe(int64_t batch, const Op& op, const std::vector<Input>& inputs, int64_t threads = 1)
      : pool_(threads) {
    graph_ = {"probe", batch, {}, {}};
    Layer layer{"op", op, {}, {{FillKind::kGaussian, 0, 0.5}}, {{FillKind::kGaussian, 0, 0.5}}};
    if (!HasWeight(op)) layer.weight = {};
    if (!HasBias(op)) layer.bias = {};
    std::vector<size_t> positions;
    for (size_t i = 0; i < inputs.size(); ++i) {
      layer.inputs.push_back("in" + std::to_string(i));
      positions.push_back(i);
      Append({layer.inputs[i], inputs[i], {}, {}, {}}, {});
    }
    Append(layer, positions);
    kernel_ = MakeKernel({graph_, inputs.size(), true});
    Allocate(inputs.size());
  }

  std::vector<float>& input(size_t i) { return f32_[i]; }
  std::vector<int32_t>& integers(size_t i) { return i32_[i]; }
  std::vector<float>& parameter(size_t i) { return parameters_[i]; }
  const std::vector<float>& output() const { return output_; }
  const Shape& output_shape() const { return graph_.layers.back().output.shape; }
  std::vector<float>& output_gradient() { return output_gradient_; }
  const std::vector<float>& input_gradient(size_t i) const { return input_gradients_[i]; }
  const std::vector<float>& parameter_gradient(size_t i) const { return parameter_gradients_[i]; }
  double loss() const { return kernel_->Loss(); }
  StepContext step;

  void Forward() { kernel_->Forward(Tensors(), step, pool_); }
  void Backward() {
    for (std::vector<float>& gradient : input_gradients_)
      std::fill(gradient.begin(), gradient.end(), 0.0f);
    kernel_->Backward(Tensors(), pool_);
  }

  // The largest difference between a gradient and its central difference, over the largest element
  // of that tensor's gradient. `factor` scales the analytic gradient, to test that the check
  // detects an error. Targets of losses have no gradient and are excluded.
  double Mismatch(double epsilon = 1e-2, double factor = 1) {
    Forward();
    Backward();
    const auto input_gradients = input_gradients_;
    const auto parameter_gradients = parameter_gradients_;
    double worst = 0;
    for (size_t i = 0; i < f32_.size(); ++i) {
      const bool target = i == 1 && IsLoss(graph_.layers.back().layer.op);
      if (!f32_[i].empty() && !target)
        worst = std::max(worst, Compare(f32_[i], input_gradients[i], epsilon, factor));
    }
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (graph_.parameters[i].trained)
        worst = std::max(worst, Compare(parameters_[i], parameter_gradients[i], epsilon, factor));
    }
    return worst;
  }

 private:
  void Append(const Layer& layer, const std::vector<size_t>& inputs) {
    std::vector<const TypedLayer*> sources;
    for (const size_t input : inputs) sources.push_back(&graph_.layers[input]);
    TypedLayer typed{layer, inputs, *OutputType(layer.op, sources, graph_.batch), {}};
    for (std::vector<Parameter> parameters = *LayerParameters(layer, sources);
         Parameter & parameter : parameters) {
      parameter.layer = graph_.layers.size();
      typed.parameters.push_back(graph_.parameters.size());
      graph_.parameters.push_back(parameter);
    }
    graph_.layers.push_back(std::move(typed));
  }

  void Allocate(size_t inputs) {
    f32_.resize(inputs);
    i32_.resize(inputs);
    input_gradients_.resize(inputs);
    for (size_t i = 0; i < inputs; ++i) {
      const TypedLayer& layer = graph_.layers[i];
      const Fill& fill = std::get<Input>(layer.layer.op).fill;
      const size_t count = static_cast<size_t>(ElementCount(layer.output.shape));
      if (layer.output.dtype == DType::kF32) {
        f32_[i].resize(count);
        input_gradients_[i].resize(count);
        FillTensor(7, layer.layer.name, fill, 0, std::span<float>(f32_[i]));
      } else {
        i32_[i].resize(count);
        FillTensor(7, layer.layer.name, fill, 0, std::span<int32_t>(i32_[i]));
      }
    }
    for (const Parameter& parameter : graph_.parameters) {
      const size_t count = static_cast<size_t>(ElementCount(parameter.shape));
      parameters_.emplace_back(count);
      parameter_gradients_.emplace_back(parameter.trained ? count : 0);
      FillTensor(7, parameter.name, parameter.fill, 0, std::span<float>(parameters_.back()));
    }
    output_.resize(static_cast<size_t>(ElementCount(output_shape())));
    output_gradient_.resize(output_.size());
    FillTensor(7, "direction", {FillKind::kGaussian, 0, 1}, 0, std::span<float>(output_gradient_));
  }

  KernelTensors Tensors() {
    KernelTensors tensors;
    for (size_t i = 0; i < f32_.size(); ++i) {
      tensors.inputs.emplace_back(f32_[i]);
      tensors.integers.emplace_back(i32_[i]);
      tensors.input_gradients.emplace_back(input_gradients_[i]);
    }
    tensors.output = output_;
    tensors.output_gradient = output_gradient_;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      tensors.parameters.emplace_back(parameters_[i]);
      tensors.parameter_gradients.emplace_back(parameter_gradients_[i]);
    }
    return tensors;
  }

  double Value() {
    Forward();
    if (IsLoss(graph_.layers.back().layer.op)) return kernel_->Loss();
    double sum = 0;
    for (size_t i = 0; i < output_.size(); ++i)
      sum += static_cast<double>(output_[i]) * output_gradient_[i];
    return sum;
  }

  double Compare(std::vector<float>& values, const std::vector<float>& analytic, double epsilon,
                 double factor) {
    double largest = 0, difference = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float origin = values[i];
      const float above = static_cast<float>(origin + epsilon),
                  below = static_cast<float>(origin - epsilon);
      values[i] = above;
      const double high = Value();
      values[i] = below;
      const double low = Value();
      values[i] = origin;
      const double numeric = (high - low) / (static_cast<double>(above) - below);
      largest = std::max(largest, std::abs(numeric));
      difference = std::max(difference, std::abs(numeric - factor * analytic[i]));
    }
    return difference / std::max(largest, 1e-6);
  }

  TypedGraph graph_;
  ThreadPool pool_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<std::vector<float>> f32_, input_gradients_, parameters_, parameter_gradients_;
  std::vector<std::vector<int32_t>> i32_;
  std::vector<float> output_, output_gradient_;
};

}  // namespace tench
