// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers a network to one TensorFlow graph with the whole step of the phase: forward, backward and
// update. Parameters, momenta, running statistics, inputs and learning rates are resource
// variables, so that a step feeds nothing and fetches the loss alone. The backward pass goes layer
// by layer in reverse: by TF_AddGradients, or by gradient nodes of the layer's own where C++ has
// none (LSTM, sparse cross-entropy, explicit padding); those nodes are the ones that TensorFlow's
// Python writes.
//
// Invariant: node names begin with f (forward), b (backward) or u (update) and the layer's number:
// "f.3.conv2/Conv2D". Ownership: the writer owns the nodes.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "worker/adapter.h"
#include "workers/tensorflow/graph_writer.h"
#include "workers/tensorflow/host_layout.h"

namespace tench::tensorflow {

struct Variable {
  TF_Output handle{}, read{}, value{};  // value: the placeholder that feeds `assign`
  TF_Operation* assign = nullptr;
  Dims dims;  // in TensorFlow
  HostLayout layout;
};

struct RateVariable {
  double multiplier = 1;
  Variable variable;
};

// A lowered network; nodes belong to the writer's graph.
struct Program {
  std::vector<Variable> parameters;  // by parameter
  // By parameter: the history of net/solver.h; with sgd and nesterov minus the momentum, as
  // TensorFlow has it.
  std::vector<std::optional<Variable>> momenta;
  // By parameter; an empty operation for state and in the forward phase.
  std::vector<TF_Output> gradients;
  std::vector<Variable> inputs;     // by Input layer, in order
  std::vector<TF_Output> outputs;   // by layer
  std::vector<HostLayout> layouts;  // by layer, of its output
  std::vector<RateVariable> rates;  // one per distinct lr_mult
  // By parameter: the second history; with rmsprop ResourceApplyAdam's first moment, which is
  // scratch.
  std::vector<std::optional<Variable>> momenta2;
  // With iter_size > 1, by parameter: the sum of the gradients of the step's earlier batches. A
  // batch that is not the last of its step runs accumulate_targets instead of targets.
  std::vector<std::optional<Variable>> sums;
  std::vector<TF_Operation*> accumulate_targets;
  // momentum^t and momentum2^t of the next update t, in this order; `multiplier` is the initial
  // value.
  std::vector<RateVariable> powers;
  TF_Output loss{};
  std::vector<TF_Operation*> targets;  // nodes that a step runs besides the loss
};

// By parameter: its value in TensorFlow's layout. Empty: layers read variables.
using ParameterValues = std::vector<std::span<const float>>;

struct Value {
  TF_Output output{};
  HostLayout layout;
};

struct LayerGradients {
  std::vector<TF_Output> inputs;      // by input of the layer; empty operation = none
  std::vector<TF_Output> parameters;  // by trained parameter of the layer
};

struct LoweredLayer {
  Value value;
  // Writes the layer's own gradient nodes; null = TF_AddGradients. Losses get no `dy`.
  std::function<LayerGradients(TF_Output dy)> backward;
  std::vector<TF_Operation*> side_effects;  // in training: updates of the running statistics
};

// The position of a layer in the graph, for its lowering.
class LayerSite {
 public:
  LayerSite(const TypedGraph& graph, size_t layer, const BuildOptions& build, GraphWriter& into,
            const std::vector<Value>& values, const std::vector<bool>& needs,
            std::vector<Variable>& parameters, const ParameterValues& constants)
      : writer(into),
        options(build),
        graph_(graph),
        layer_(layer),
        values_(values),
        needs_(needs),
        parameters_(parameters),
        constants_(constants) {}

  GraphWriter& writer;
  const BuildOptions& options;

  bool training() const { return options.phase != Phase::kForward; }
  size_t index() const { return layer_; }
  size_t inputs() const { return graph_.layers[layer_].inputs.size(); }
  const Value& input(size_t i) const { return values_[graph_.layers[layer_].inputs[i]]; }
  TF_Output in(size_t i) const { return input(i).output; }
  // The input in the logical order of its shape: moved if it is a flattened image.
  TF_Output PlainIn(size_t i) const;
  bool NeedsGradient(size_t i) const { return needs_[graph_.layers[layer_].inputs[i]]; }
  const Shape& shape(size_t i) const { return graph_.InputType(layer_, i).shape; }
  // The first size of the i-th parameter.
  int64_t Rows(size_t i) const {
    return graph_.parameters[graph_.layers[layer_].parameters[i]].shape[0];
  }
  const Shape& output_shape() const { return graph_.layers[layer_].output.shape; }
  // Makes the layer's i-th parameter a variable of this layout, and reads it, or the constant in
  // its place.
  TF_Output Parameter(size_t i, HostLayout layout) const;
  const Variable& ParameterVariable(size_t i) const {
    return parameters_[graph_.layers[layer_].parameters[i]];
  }

 private:
  const TypedGraph& graph_;
  size_t layer_;
  const std::vector<Value>& values_;
  const std::vector<bool>& needs_;
  std::vector<Variable>& parameters_;
  const ParameterValues& constants_;
};

Variable MakeVariable(GraphWriter& writer, std::string_view label, TF_DataType type,
                      const Dims& dims, HostLayout layout);

LoweredLayer LowerConvolution(const Convolution& op, const LayerSite& site);
LoweredLayer LowerPooling(const Pooling& op, const LayerSite& site);
LoweredLayer LowerLrn(const Lrn& op, const LayerSite& site);
LoweredLayer LowerBatchNorm(const BatchNorm& op, const LayerSite& site);
LoweredLayer LowerUnary(const char* type, const LayerSite& site);
LoweredLayer LowerFullyConnected(const FullyConnected& op, const LayerSite& site);
LoweredLayer LowerDropout(const Dropout& op, const LayerSite& site);
LoweredLayer LowerConcat(const LayerSite& site);
LoweredLayer LowerSlice(const Slice& op, const LayerSite& site);
LoweredLayer LowerAdd(const LayerSite& site);
LoweredLayer LowerWeightedSum(const Add& op, const LayerSite& site);
LoweredLayer LowerProduct(const LayerSite& site);
LoweredLayer LowerMaximum(const LayerSite& site);
LoweredLayer LowerFlatten(const LayerSite& site);
LoweredLayer LowerReshape(const LayerSite& site);
LoweredLayer LowerScale(const Scale& op, const LayerSite& site);
LoweredLayer LowerSoftmax(const LayerSite& site);
LoweredLayer LowerLeakyRelu(const Relu& op, const LayerSite& site);
LoweredLayer LowerPower(const Power& op, const LayerSite& site);
LoweredLayer LowerEmbedding(const LayerSite& site);
LoweredLayer LowerLstm(const Lstm& op, const LayerSite& site);
LoweredLayer LowerMeanOverTime(const LayerSite& site);
LoweredLayer LowerSoftmaxCrossEntropy(const SoftmaxCrossEntropy& op, const LayerSite& site);
LoweredLayer LowerSigmoidCrossEntropy(const SigmoidCrossEntropy& op, const LayerSite& site);
LoweredLayer LowerMeanSquaredError(const MeanSquaredError& op, const LayerSite& site);

// The default layout of a layer's output in TensorFlow's memory: NHWC for images, otherwise the
// logical order.
HostLayout UsualLayout(const Shape& shape);

// With `constants`, layers read these values instead of variables, so that TensorFlow can fold them
// and oneDNN can keep reordered weights; for phase forward. The variables exist, but no step reads
// them.
Result<Program> Lower(const TypedGraph& graph, const BuildOptions& options, GraphWriter& writer,
                      const ParameterValues& constants = {});

}  // namespace tench::tensorflow
