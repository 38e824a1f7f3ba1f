// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiler's working state while a network becomes a Program. Layers are lowered in order; each
// adds its forward steps and leaves behind a function that adds its backward steps, which run in
// reverse. It knows where every layer's output lies, which gradients have arrived for it, and in
// which layout each parameter lives. The ops themselves are in lower_*.cc.

#include <functional>
#include <initializer_list>
#include <map>

#include "net/graph.h"
#include "worker/adapter.h"
#include "workers/native/compile/fusion.h"
#include "workers/native/program/layout.h"
#include "workers/native/program/program.h"

namespace tench::native {

class ConvTuner;

// Where a parameter lives. `plain` is its logical form as the contract's tensors have it, perhaps
// with more dimensions.
struct ParameterPlace {
  Md plain;
  Tensor home, momentum, gradient;  // momentum while training, gradient in an observing build
  Tensor momentum2;                 // Adam's
};

class Lowering {
 public:
  Lowering(const TypedGraph& graph, const BuildOptions& options, const dnnl::engine& engine,
           ConvTuner& tuner, Program& program);

  // Lowers every layer, forward and backward. Unsupported names the layer.
  Status Run();

  const TypedGraph& graph;
  const BuildOptions& options;
  const dnnl::engine& engine;
  ConvTuner& tuner;
  const Fusion fusion;
  const bool training;

  const Shape& OutputShape(size_t layer) const { return graph.layers[layer].output.shape; }
  const Shape& InputShape(size_t layer) const {
    return graph.layers[graph.layers[layer].inputs[0]].output.shape;
  }

  // Buffers.
  Tensor NewTensor(const Md& md, Place place = Place::kArena);
  Tensor NewOutput(const Md& md) {
    return NewTensor(md, options.observe ? Place::kPinned : Place::kArena);
  }

  // Steps.
  void AddKernel(size_t layer, Direction direction, std::string name, std::vector<Tensor> tensors,
                 StepFunction kernel, int64_t flops = 0);
  template <class Pd>
  void AddPrimitive(size_t layer, Direction direction, const Pd& pd,
                    const dnnl::primitive& primitive, std::vector<Argument> arguments,
                    int64_t flops = 0) {
    AddPrimitive(layer, direction, pd.impl_info_str(), pd.scratchpad_desc(), primitive,
                 std::move(arguments), flops);
  }
  void AddPrimitive(size_t layer, Direction direction, const std::string& name,
                    const Md& scratchpad, const dnnl::primitive& primitive,
                    std::vector<Argument> arguments, int64_t flops);
  void AddReorder(size_t layer, Direction direction, const Tensor& from, const Tensor& to);
  // The tensor itself if it has this layout, otherwise a reordered copy.
  Tensor InLayout(size_t layer, Direction direction, const Tensor& tensor, const Md& md);
  void OnBackward(std::function<void()> lower) { backward_.push_back(std::move(lower)); }

  // Values. A layer's output; an absorbed layer shares its producer's.
  const Tensor& Output(size_t layer) const { return values_[slot_[layer]].tensor; }
  const Tensor& InputOf(size_t layer, size_t input = 0) const {
    return Output(graph.layers[layer].inputs[input]);
  }
  void SetOutput(size_t layer, const Tensor& tensor) { values_[slot_[layer]].tensor = tensor; }
  void ShareOutput(size_t layer, size_t producer) { slot_[layer] = slot_[producer]; }
  // The input in the wanted layout; copies are made once and shared by all who want them, forward
  // and backward.
  Tensor InputAs(size_t layer, size_t input, const Md& md);
  // What a batch norm makes its output of, for those who may have to make that again.
  struct Norm {
    Tensor in, scale, shift, mean, variance;  // scale and shift: nothing where the layer has none
    float eps = 0;
  };
  void SetNorm(size_t layer, const Norm& norm) { norms_[layer] = norm; }
  const Norm* NormOf(size_t layer) const {
    return norms_.contains(layer) ? &norms_.at(layer) : nullptr;
  }
  // The layer's output need not be kept for the backward pass: `recompute` adds the steps that
  // compute it again, when someone there reads it.
  void OnRecompute(size_t layer, std::function<Tensor()> recompute) {
    values_[slot_[layer]].recompute = std::move(recompute);
  }
  // Whether every layer that reads its output, or that of the activation which it absorbed, is of
  // one of these kinds.
  template <class... Ops>
  bool IsReadOnlyBy(size_t layer) const {
    for (size_t i = layer + 1; i < graph.layers.size(); ++i) {
      for (size_t input : graph.layers[i].inputs) {
        const bool reads = input == layer
                               ? !fusion.absorbed[i]
                               : fusion.absorbed[input] && graph.layers[input].inputs[0] == layer;
        if (reads && !(std::holds_alternative<Ops>(graph.layers[i].layer.op) || ...)) return false;
      }
    }
    return true;
  }
  // Whether the layer may write its result over this input: nobody else reads it, now or in the
  // backward pass.
  bool MayOverwrite(size_t layer, size_t input) const;

  // Gradients with respect to a layer's output.
  bool WantsGradient(size_t layer) const { return training && needs_gradient_[layer]; }
  bool WantsInputGradient(size_t layer, size_t input = 0) const {
    return WantsGradient(graph.layers[layer].inputs[input]);
  }
  struct Gradient {
    Tensor tensor;
    bool exclusive = true;  // the taker may overwrite it
    explicit operator bool() const { return static_cast<bool>(tensor); }
  };
  void Contribute(size_t layer, Gradient gradient);
  void ContributeToInput(size_t layer, size_t input, Gradient gradient) {
    Contribute(graph.layers[layer].inputs[input], gradient);
  }
  // The sum of all contributions in the layout of the output, through the derivative that the
  // fusion has planned. Dense. Nothing if none has come.
  Gradient TakeGradient(size_t layer);
  // The gradient's tensor if it may be overwritten and has this layout, otherwise a new one.
  Tensor Reuse(const Gradient& gradient, const Md& md);

  // Parameters; `index` counts the layer's own.
  size_t ParameterIndex(size_t layer, size_t index) const {
    return graph.layers[layer].parameters[index];
  }
  Tensor DeclareParameter(size_t layer, size_t index, const Md& plain, const Md& home);
  const ParameterPlace& PlaceOf(size_t layer, size_t index) const {
    return parameters_[ParameterIndex(layer, index)];
  }
  // Where the parameter's gradient is to be written.
  Tensor NewGradient(size_t layer, size_t index, const Md& md);
  // The gradient is complete: updates the parameter when training; at the end, if gradients are to
  // be clipped by the norm of all.
  void Update(size_t layer, size_t index, const Tensor& gradient);
  bool updates() const { return options.phase == Phase::kTrain; }
  // Whether a layer may apply plain SGD to its parameter as it computes the gradient, and never
  // store that.
  bool MayFuseUpdate() const {
    return updates() && !options.observe && options.solver.type == SolverType::kSgd &&
           options.solver.clip_gradients == 0;
  }

  size_t NewLoss() { return losses_++; }
  size_t losses() const { return losses_; }
  const std::vector<ParameterPlace>& parameters() const { return parameters_; }
  void Choose(const std::string& name, const std::string& choice) { choices_[name] = choice; }
  const std::map<std::string, std::string>& choices() const { return choices_; }

 private:
  struct Value {
    Tensor tensor;
    std::vector<Tensor> copies;
    std::vector<Gradient> gradients;
    std::function<Tensor()> recompute;  // taken when used
  };
  Status LowerLayer(size_t layer);
  void AddUpdate(size_t parameter, const Tensor& gradient);
  void AddClippedUpdates();
  void RemakeIfDue(Value& value);
  Gradient Sum(size_t layer, std::vector<Gradient> gradients, const Tensor& like,
               Activation activation);

  Program& program_;
  std::vector<bool> needs_gradient_;
  std::vector<size_t> slot_;  // by layer: its place in values_
  std::vector<Value> values_;
  std::map<size_t, Norm> norms_;
  std::vector<ParameterPlace> parameters_;
  std::vector<std::function<void()>> backward_;
  std::vector<std::pair<size_t, Tensor>>
      pending_;  // parameters and their gradients, while the norm of all is not known
  std::map<std::string, std::string> choices_;
  size_t losses_ = 0;
  bool in_backward_ = false;
};

// One per op family.
void LowerInput(Lowering& low, size_t layer);
void LowerConvolution(Lowering& low, size_t layer, const Convolution& op);
void LowerPooling(Lowering& low, size_t layer, const Pooling& op);
void LowerLrn(Lowering& low, size_t layer, const Lrn& op);
void LowerBatchNorm(Lowering& low, size_t layer, const BatchNorm& op);
void LowerFullyConnected(Lowering& low, size_t layer, const FullyConnected& op);
void LowerActivation(Lowering& low, size_t layer, Activation activation);
void LowerDropout(Lowering& low, size_t layer, const Dropout& op);
void LowerConcat(Lowering& low, size_t layer);
void LowerSlice(Lowering& low, size_t layer, const Slice& op);
void LowerAdd(Lowering& low, size_t layer);
void LowerWeightedSum(Lowering& low, size_t layer, const Add& op);
void LowerProduct(Lowering& low, size_t layer);
void LowerMaximum(Lowering& low, size_t layer);
void LowerFlatten(Lowering& low, size_t layer);
void LowerReshape(Lowering& low, size_t layer);
void LowerScale(Lowering& low, size_t layer, const Scale& op);
void LowerSoftmax(Lowering& low, size_t layer);
void LowerLeakyRelu(Lowering& low, size_t layer, const Relu& op);
void LowerPower(Lowering& low, size_t layer, const Power& op);
void LowerLrnWithin(Lowering& low, size_t layer, const Lrn& op);
void LowerEmbedding(Lowering& low, size_t layer, const Embedding& op);
void LowerLstm(Lowering& low, size_t layer, const Lstm& op);
void LowerMeanOverTime(Lowering& low, size_t layer);
void LowerSoftmaxLoss(Lowering& low, size_t layer, const SoftmaxCrossEntropy& op);
void LowerSigmoidLoss(Lowering& low, size_t layer, const SigmoidCrossEntropy& op);
void LowerSquaredLoss(Lowering& low, size_t layer, const MeanSquaredError& op);

// The attributes of every primitive: its scratch memory comes from the arena.
dnnl::primitive_attr PlainAttributes();
dnnl::primitive_attr WithActivation(Activation activation);

}  // namespace tench::native
