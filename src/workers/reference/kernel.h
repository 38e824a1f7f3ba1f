// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference kernel of one layer, forward and backward. A kernel is built for one layer of a
// checked graph. It owns only the state between forward and backward (masks, indices, statistics);
// the adapter owns the tensors, in the logical order of their shapes. Accumulation is in double,
// storage in f32. Not aware of other layers, solvers or files. Used by one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/graph.h"
#include "workers/reference/thread_pool.h"

namespace tench {

struct KernelTensors {
  // One per input of the layer; empty for an integer input.
  std::vector<std::span<const float>> inputs;
  // At the same positions; empty for an f32 input.
  std::vector<std::span<const int32_t>> integers;
  std::span<float> output;
  std::vector<std::span<float>> parameters;       // in the order of net/op.h
  std::span<const float> output_gradient;         // empty for losses, where it is 1
  std::vector<std::span<float>> input_gradients;  // accumulated into; empty = not needed
  // Overwritten; empty for running statistics.
  std::vector<std::span<float>> parameter_gradients;
};

struct StepContext {
  bool training = true;  // batch statistics, dropout
  bool dropout = true;
  uint64_t seed = 1;
  int64_t step = 0;  // part of the dropout mask's seed
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) = 0;
  // Must follow a training Forward with the same inputs.
  virtual void Backward(const KernelTensors& tensors, ThreadPool& pool) = 0;
  // The weighted loss of the last Forward, before rounding to f32; 0 for other ops.
  virtual double Loss() const { return 0; }
};

// The position of a kernel in its graph. If `training` is false, Backward is never called, and
// Forward keeps no state for it.
struct KernelSite {
  const TypedGraph& graph;
  size_t layer;
  bool training;

  const Shape& input(size_t position) const { return graph.InputType(layer, position).shape; }
  const Shape& output() const { return graph.layers[layer].output.shape; }
  size_t inputs() const { return graph.layers[layer].inputs.size(); }
  const std::string& name() const { return graph.layers[layer].layer.name; }
};

// Null for Input layers, which compute nothing.
std::unique_ptr<Kernel> MakeKernel(const KernelSite& site);
// Replaces the kernel of a layer, for tests that inject faults.
using KernelMaker = std::function<std::unique_ptr<Kernel>(const KernelSite&)>;

std::unique_ptr<Kernel> MakeConvolution(const Convolution& op, const KernelSite& site);
std::unique_ptr<Kernel> MakePooling(const Pooling& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeLrn(const Lrn& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeRelu(const Relu& op);
std::unique_ptr<Kernel> MakeSigmoid();
std::unique_ptr<Kernel> MakeTanh();
std::unique_ptr<Kernel> MakePower(const Power& op);
std::unique_ptr<Kernel> MakeFullyConnected(const FullyConnected& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeDropout(const Dropout& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeConcat(const KernelSite& site);
std::unique_ptr<Kernel> MakeSlice(const Slice& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeAdd(const Add& op);
std::unique_ptr<Kernel> MakeMultiply();
std::unique_ptr<Kernel> MakeMaximum();
std::unique_ptr<Kernel> MakeFlatten();  // also for Reshape: the elements keep their order
std::unique_ptr<Kernel> MakeBatchNorm(const BatchNorm& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeScale(const Scale& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeSoftmax(const KernelSite& site);
std::unique_ptr<Kernel> MakeEmbedding(const Embedding& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeLstm(const Lstm& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeMeanOverTime(const KernelSite& site);
std::unique_ptr<Kernel> MakeSoftmaxCrossEntropy(const SoftmaxCrossEntropy& op,
                                                const KernelSite& site);
std::unique_ptr<Kernel> MakeSigmoidCrossEntropy(const SigmoidCrossEntropy& op,
                                                const KernelSite& site);
std::unique_ptr<Kernel> MakeMeanSquaredError(const MeanSquaredError& op);

// Elements per work item of an element-wise op.
inline constexpr int64_t kElementGrain = 1 << 14;

// Accumulates in double and rounds once.
inline void AddTo(float& gradient, double value) {
  gradient = static_cast<float>(gradient + value);
}

}  // namespace tench
