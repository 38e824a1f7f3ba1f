// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network as a flat list of layer calls, with its parameters and its resident batch. Forward runs
// the list; autograd runs the backward pass. A layer's output is released after its last reader, as
// in a PyTorch program; an observing network keeps every output and runs nothing in place. Not
// aware of solvers, files or clocks. Used by one thread.

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"
#include "workers/torch/layer_call.h"
#include "workers/torch/profile.h"

namespace tench::pytorch {

struct NetworkSettings {
  c10::Device device = c10::kCPU;
  bool training = true;  // false: inference, without autograd
  bool dropout = true;
  bool observe = false;
  bool channels_last = false;  // images and weights in NHWC
};

class Network {
 public:
  static Result<std::unique_ptr<Network>> Make(const TypedGraph& graph,
                                               const NetworkSettings& settings);

  const TypedGraph& graph() const { return graph_; }
  // By index into TypedGraph::parameters, running statistics among them.
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const at::Tensor& output(size_t layer) const { return values_[layer]; }

  void SetInput(size_t layer, const HostTensor& input);
  void SetInput(size_t layer, const at::Tensor& input);  // any layout, on any device

  void ClearGradients();
  at::Tensor Forward(Profile* profile);  // the sum of the losses

 private:
  Network(const TypedGraph& graph, const NetworkSettings& settings)
      : graph_(graph), settings_(settings) {}
  void MakeParameters();
  Status MakeCalls();
  at::Tensor Take(size_t layer, size_t reader);

  TypedGraph graph_;
  NetworkSettings settings_;
  std::vector<at::Tensor> parameters_;
  std::vector<LayerCall> calls_;       // by layer; none for inputs
  std::vector<size_t> last_reader_;    // by layer; the layer itself without readers
  std::vector<at::Tensor> values_;     // by layer; inputs stay
  std::vector<at::Tensor> arguments_;  // of the layer that is running
};

// Copies between host memory, in the logical order of the shape, and a tensor of any layout and
// device.
void CopyFromHost(std::span<const float> values, const at::Tensor& tensor);
std::vector<float> CopyToHost(const at::Tensor& tensor);

}  // namespace tench::pytorch
