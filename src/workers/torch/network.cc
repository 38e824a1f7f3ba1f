// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/network.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include "net/op_traits.h"

namespace tench::pytorch {
namespace {

bool IsInput(const TypedLayer& layer) { return std::holds_alternative<Input>(layer.layer.op); }

// Whether the op's backward pass does not need its output, so that the next layer may overwrite it.
bool ForgetsOutput(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Convolution, FullyConnected, BatchNorm, Add> auto&) { return true; },
               [](const AnyOf<Input, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, Dropout, Concat,
                              Slice, Multiply, Maximum, Flatten, Reshape, Scale, Softmax, Embedding,
                              Lstm, MeanOverTime> auto&) { return false; },
               [](const LossOp auto&) { return false; }},
      op);
}

// Ops with an in-place variant.
bool MayOverwrite(const Op& op) {
  return std::visit(
      Overload{
          [](const Relu& relu) { return relu.negative_slope == 0; },
          [](const Add& add) { return add.coefficients.empty(); },
          [](const AnyOf<Input, Convolution, Pooling, Lrn, Sigmoid, Tanh, Power, FullyConnected,
                         Dropout, Concat, Slice, Multiply, Maximum, Flatten, Reshape, BatchNorm,
                         Scale, Softmax, Embedding, Lstm, MeanOverTime> auto&) { return false; },
          [](const LossOp auto&) { return false; }},
      op);
}

std::vector<size_t> CountReaders(const TypedGraph& graph) {
  std::vector<size_t> readers(graph.layers.size());
  for (const TypedLayer& layer : graph.layers)
    for (const size_t input : layer.inputs) ++readers[input];
  return readers;
}

at::MemoryFormat FormatOf(size_t dimensions, bool channels_last) {
  return channels_last && dimensions == 4 ? at::MemoryFormat::ChannelsLast
                                          : at::MemoryFormat::Contiguous;
}

}  // namespace

Result<std::unique_ptr<Network>> Network::Make(const TypedGraph& graph,
                                               const NetworkSettings& settings) {
  std::unique_ptr<Network> network(new Network(graph, settings));
  network->MakeParameters();
  TENCH_TRY(network->MakeCalls());
  return network;
}

void Network::MakeParameters() {
  for (const Parameter& parameter : graph_.parameters) {
    at::Tensor tensor = at::empty(parameter.shape, at::TensorOptions().device(settings_.device),
                                  FormatOf(parameter.shape.size(), settings_.channels_last))
                            .zero_();
    if (settings_.training && parameter.trained) tensor.requires_grad_();
    parameters_.push_back(std::move(tensor));
  }
}

Status Network::MakeCalls() {
  const std::vector<size_t> readers = CountReaders(graph_);
  values_.resize(graph_.layers.size());
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    const TypedLayer& layer = graph_.layers[i];
    last_reader_.push_back(i);
    for (const size_t input : layer.inputs) last_reader_[input] = i;
    LayerSite site{graph_, i, {}, settings_.training, settings_.dropout, false};
    for (const size_t parameter : layer.parameters)
      site.parameters.push_back(parameters_[parameter]);
    site.overwrite = !settings_.observe && MayOverwrite(layer.layer.op) &&
                     readers[layer.inputs[0]] == 1 &&
                     ForgetsOutput(graph_.layers[layer.inputs[0]].layer.op);
    calls_.push_back(
        TENCH_TRY(MakeLayerCall(site).In(fmt::format("layer '{}'", layer.layer.name))));
  }
  return Ok();
}

void Network::SetInput(size_t layer, const HostTensor& input) {
  const bool numbers = input.type.dtype == DType::kF32;
  void* data = numbers ? const_cast<void*>(static_cast<const void*>(input.f32.data()))
                       : const_cast<void*>(static_cast<const void*>(input.i32.data()));
  SetInput(layer, at::from_blob(data, input.type.shape, numbers ? at::kFloat : at::kInt));
}

void Network::SetInput(size_t layer, const at::Tensor& input) {
  at::Tensor& value = values_[layer];
  if (!value.defined()) {
    const Shape& shape = graph_.layers[layer].output.shape;
    // Class indices and tokens are 64-bit integers in PyTorch.
    const at::ScalarType type = input.scalar_type() == at::kFloat ? at::kFloat : at::kLong;
    value = at::empty(shape, at::TensorOptions().device(settings_.device).dtype(type),
                      FormatOf(shape.size(), settings_.channels_last));
  }
  value.copy_(input);
}

void Network::ClearGradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad() = at::Tensor();
}

at::Tensor Network::Take(size_t layer, size_t reader) {
  const bool last =
      last_reader_[layer] == reader && !settings_.observe && !IsInput(graph_.layers[layer]);
  return last ? std::move(values_[layer]) : values_[layer];
}

at::Tensor Network::Forward(Profile* profile) {
  at::Tensor loss;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const TypedLayer& layer = graph_.layers[i];
    if (IsInput(layer)) continue;
    for (size_t k = 0; k < layer.inputs.size(); ++k) {
      const bool again = std::find(layer.inputs.begin() + k + 1, layer.inputs.end(),
                                   layer.inputs[k]) != layer.inputs.end();
      arguments_.push_back(again ? values_[layer.inputs[k]] : Take(layer.inputs[k], i));
    }
    if (profile != nullptr) profile->BeginLayer(i);
    at::Tensor value = calls_[i](arguments_);
    if (profile != nullptr) profile->EndLayer();
    arguments_.clear();
    if (IsLoss(layer.layer.op)) loss = loss.defined() ? at::add(loss, value) : value;
    if (settings_.observe || last_reader_[i] != i) values_[i] = std::move(value);
  }
  return loss;
}

void CopyFromHost(std::span<const float> values, const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  tensor.copy_(at::from_blob(const_cast<float*>(values.data()), tensor.sizes(), at::kFloat));
}

std::vector<float> CopyToHost(const at::Tensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  at::from_blob(values.data(), tensor.sizes(), at::kFloat).copy_(tensor.detach());
  return values;
}

}  // namespace tench::pytorch
