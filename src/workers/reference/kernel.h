// SPDX-License-Identifier: Apache-2.0
#pragma once
// One layer's arithmetic, forward and backward: what the reference worker is made of. A kernel is
// built for one layer of a checked graph; it owns only what it must remember from forward to
// backward (masks, indices, statistics). Tensors are the adapter's, in the logical order of their
// shapes. Sums run in double, storage is f32. Not aware of the other layers, of solvers or of
// files.

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
  std::vector<std::span<const float>>
      inputs;  // one per input of the layer; empty where that is of integers
  std::vector<std::span<const int32_t>>
      integers;  // the same positions; empty where the input is f32
  std::span<float> output;
  std::vector<std::span<float>> parameters;       // in the order that net/op.h lists them
  std::span<const float> output_gradient;         // empty for losses: theirs is 1
  std::vector<std::span<float>> input_gradients;  // to be added to; empty = not wanted
  std::vector<std::span<float>>
      parameter_gradients;  // to be overwritten; empty for running statistics
};

struct StepContext {
  bool training = true;  // batch statistics, dropout
  bool dropout = true;
  uint64_t seed = 1;
  int64_t step = 0;  // makes each step's dropout mask its own
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void Forward(const KernelTensors& tensors, const StepContext& step, ThreadPool& pool) = 0;
  // Follows a training Forward with the same inputs.
  virtual void Backward(const KernelTensors& tensors, ThreadPool& pool) = 0;
  // Of the last Forward, times its weight and before it is rounded to f32; 0 for what is no loss.
  virtual double Loss() const { return 0; }
};

// Where a kernel stands. `training` false: Backward will never be called, and nothing need be
// remembered for it.
struct KernelSite {
  const TypedGraph& graph;
  size_t layer;
  bool training;

  const Shape& input(size_t position) const { return graph.InputType(layer, position).shape; }
  const Shape& output() const { return graph.layers[layer].output.shape; }
  size_t inputs() const { return graph.layers[layer].inputs.size(); }
  const std::string& name() const { return graph.layers[layer].layer.name; }
};

// null for Input layers, which compute nothing.
std::unique_ptr<Kernel> MakeKernel(const KernelSite& site);
// Whoever wants other arithmetic in one place: the tests, which need a worker that is wrong.
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
std::unique_ptr<Kernel> MakeFlatten();  // and Reshape: the elements keep their order
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

// Elements per piece of work where each element is cheap.
inline constexpr int64_t kElementGrain = 1 << 14;

// A gradient is added to in double and rounded once.
inline void AddTo(float& gradient, double value) {
  gradient = static_cast<float>(gradient + value);
}

}  // namespace tench
