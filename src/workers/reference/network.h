// SPDX-License-Identifier: Apache-2.0
#pragma once
// A graph prepared for execution: a kernel per layer, and memory for every tensor by a buffer plan.
// In the forward phase an activation is live until its last reader, otherwise until its layer's
// backward pass. An observing build keeps all activations to the end of the step. Owns all tensors.
// Not aware of solvers or files. Used by one thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "net/graph.h"
#include "record/phase.h"
#include "workers/reference/kernel.h"

namespace tench {

struct NetworkOptions {
  bool training = true;  // Backward will be called
  bool observe = false;  // Output is valid for every layer after a step
  int64_t threads = 1;
  double jitter = 0;  // in units in the last place; see Jitter
  int64_t jitter_seed = 0;
  KernelMaker make_kernel = MakeKernel;
};

class Network {
 public:
  Network(const TypedGraph& graph, const NetworkOptions& options);

  const TypedGraph& graph() const { return graph_; }
  ThreadPool& pool() { return pool_; }
  int64_t bytes() const;

  std::vector<float>& parameter(size_t index) { return parameters_[index]; }
  // Empty for running statistics, and outside of training.
  std::vector<float>& gradient(size_t index) { return gradients_[index]; }

  void SetInput(size_t layer, const HostTensor& tensor);
  // Returns the sum of the losses.
  double Forward(const StepContext& step);
  void Backward();

  std::span<const float> Output(size_t layer) const { return tensors_[layer].output; }

 private:
  void PlanActivations(const NetworkOptions& options);
  void BindLayer(size_t layer);
  // Perturbs each value at random by up to `jitter_` units in the last place, to simulate rounding
  // in f32.
  void Jitter(std::span<float> values, size_t layer, uint64_t what);

  TypedGraph graph_;
  const double jitter_;
  const int64_t jitter_seed_;
  int64_t step_ = 0;
  ThreadPool pool_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  // null for inputs
  std::vector<KernelTensors> tensors_;
  std::vector<std::vector<float>> parameters_, gradients_, buffers_;
  std::vector<HostTensor> inputs_;  // by layer; used only for Input layers
  // By layer; empty if no preceding layer has parameters.
  std::vector<std::span<float>> output_gradients_;
  // By layer: the reader that runs backward first and zeroes the gradient.
  std::vector<size_t> opens_gradient_of_;
};

}  // namespace tench
