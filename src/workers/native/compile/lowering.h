// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compiler's state while a graph is lowered to a Program. Layers are lowered in graph order.
// Each adds its forward steps and registers a function that adds its backward steps; those run in
// reverse order. Lowering tracks every layer's output tensor, the gradients contributed to it, and
// the layout of every parameter. The ops are in op_lowering.h and lower_*.cc.
//
// Ownership: refers to the graph, options, engine, tuner and program, which must outlive it.
// Thread safety: one thread.

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

// A parameter's buffers, all in one layout but `gradient`. `plain` is the layout of the adapter's
// tensors, perhaps with more dimensions (groups).
struct ParameterPlace {
  Md plain;
  Tensor value;
  Tensor momentum;   // if the build updates and the parameter is trained
  Tensor gradient;   // readable after a step in an observing build only
  Tensor momentum2;  // Adam's second moment
};

class Lowering {
 public:
  Lowering(const TypedGraph& graph, const BuildOptions& options, const dnnl::engine& engine,
           ConvTuner& tuner, Program& program);

  // Lowers every layer, forward and backward. An unsupported layer is named in the error.
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

  // Buffers. An output outlives the step in an observing build.
  Tensor NewTensor(const Md& md, Place place = Place::kArena);
  Tensor NewOutput(const Md& md) {
    return NewTensor(md, options.observe ? Place::kPersistent : Place::kArena);
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
  // The tensor itself if it has this layout, otherwise a new tensor and a reorder step.
  Tensor InLayout(size_t layer, Direction direction, const Tensor& tensor, const Md& md);
  void OnBackward(std::function<void()> lower) { backward_.push_back(std::move(lower)); }

  // A layer's output; a layer that was fused into its producer shares the producer's.
  const Tensor& Output(size_t layer) const { return values_[slot_[layer]].tensor; }
  const Tensor& InputOf(size_t layer, size_t input = 0) const {
    return Output(graph.layers[layer].inputs[input]);
  }
  void SetOutput(size_t layer, const Tensor& tensor) { values_[slot_[layer]].tensor = tensor; }
  void ShareOutput(size_t layer, size_t producer) { slot_[layer] = slot_[producer]; }
  // The input in this layout. A reordered copy is made once and shared by all readers, forward and
  // backward.
  Tensor InputAs(size_t layer, size_t input, const Md& md);
  // A batch norm's operands, for a layer that recomputes the batch norm's output.
  struct Norm {
    Tensor in, scale, shift, mean, variance;  // scale and shift may be absent
    float eps = 0;
  };
  void SetNorm(size_t layer, const Norm& norm) { norms_[layer] = norm; }
  const Norm* NormOf(size_t layer) const {
    return norms_.contains(layer) ? &norms_.at(layer) : nullptr;
  }
  // Activation recomputation (checkpointing): the output is not kept for the backward pass;
  // `recompute` adds the steps that compute it there, at its first reader.
  void OnRecompute(size_t layer, std::function<Tensor()> recompute) {
    values_[slot_[layer]].recompute = std::move(recompute);
  }
  // Whether every reader of the layer's output, or of the activation fused into it, is one of Ops.
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
  // Whether the layer may run in place on this input: no other step reads it, forward or backward.
  bool MayOverwrite(size_t layer, size_t input) const;

  // Gradients of the loss with respect to a layer's output.
  bool WantsGradient(size_t layer) const { return training && needs_gradient_[layer]; }
  bool WantsInputGradient(size_t layer, size_t input = 0) const {
    return WantsGradient(graph.layers[layer].inputs[input]);
  }
  struct Gradient {
    Tensor tensor;
    bool exclusive = true;  // the taker may write to it
    explicit operator bool() const { return static_cast<bool>(tensor); }
  };
  void Contribute(size_t layer, Gradient gradient);
  void ContributeToInput(size_t layer, size_t input, Gradient gradient) {
    Contribute(graph.layers[layer].inputs[input], gradient);
  }
  // The sum of all contributions, times the derivative that Fusion assigns to this layer. Dense, in
  // the order of the layer's output. Empty if there is no contribution.
  Gradient TakeGradient(size_t layer);
  // The gradient's tensor if it is exclusive and has this layout, otherwise a new tensor.
  Tensor Reuse(const Gradient& gradient, const Md& md);

  // Parameters; `index` is relative to the layer.
  size_t ParameterIndex(size_t layer, size_t index) const {
    return graph.layers[layer].parameters[index];
  }
  Tensor DeclareParameter(size_t layer, size_t index, const Md& plain, const Md& md);
  const ParameterPlace& PlaceOf(size_t layer, size_t index) const {
    return parameters_[ParameterIndex(layer, index)];
  }
  // A new tensor for the parameter's gradient. In phase gradient it is kept until the next step.
  Tensor NewGradient(size_t layer, size_t index, const Md& md);
  // Adds the update step in the train phase. With gradient clipping the steps are added at the end,
  // after the one that computes the global norm.
  void Update(size_t layer, size_t index, const Tensor& gradient);
  bool updates() const { return options.phase == Phase::kTrain; }
  // Whether a layer may fuse SGD into its weight gradient, which is then never stored.
  bool MayFuseUpdate() const { return updates() && !options.observe && PlainSgd(); }
  // SGD with L2 regularization, no clipping and one batch per step.
  bool PlainSgd() const {
    const Solver& solver = options.solver;
    return solver.type == SolverType::kSgd && solver.clip_gradients == 0 &&
           solver.regularization == Regularization::kL2 && solver.iter_size == 1;
  }

  size_t NewLoss() { return losses_++; }
  size_t losses() const { return losses_; }
  const std::vector<ParameterPlace>& parameters() const { return parameters_; }
  // Records a selected candidate for BuildFacts.
  void Choose(const std::string& name, const std::string& choice) { choices_[name] = choice; }
  const std::map<std::string, std::string>& choices() const { return choices_; }

 private:
  struct Value {
    Tensor tensor;
    std::vector<Tensor> copies;
    std::vector<Gradient> gradients;
    std::function<Tensor()> recompute;  // reset by its first use
  };
  Status LowerLayer(size_t layer);
  Tensor Accumulated(size_t layer, const Tensor& gradient);
  void AddUpdate(size_t parameter, const Tensor& gradient);
  void AddClippedUpdates();
  void RecomputeIfNeeded(Value& value);
  Gradient Sum(size_t layer, std::vector<Gradient> gradients, const Tensor& like,
               Activation activation);

  Program& program_;
  std::vector<bool> needs_gradient_;
  std::vector<size_t> slot_;  // by layer: index in values_
  std::vector<Value> values_;
  std::map<size_t, Norm> norms_;
  std::vector<ParameterPlace> parameters_;
  std::vector<std::function<void()>> backward_;
  // Parameters and gradients whose update waits for the global norm.
  std::vector<std::pair<size_t, Tensor>> pending_;
  std::map<std::string, std::string> choices_;
  size_t losses_ = 0;
  bool in_backward_ = false;
};

}  // namespace tench::native
