// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/lowering.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "workers/native/compile/update_rule.h"
#include "workers/native/kernels/optimizer.h"
#include "workers/native/kernels/pointwise.h"
#include "workers/native/kernels/sgd.h"

namespace tench::native {
namespace {

// Whether the lowering may give the op its input's buffer as output, so that overwriting the one
// overwrites the other. A network's input belongs to the caller.
bool MayAliasInput(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Input, Flatten, Reshape, Dropout> auto&) { return true; },
               [](const AnyOf<Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, FullyConnected,
                              Concat, Slice, Add, Multiply, Maximum, BatchNorm, Scale, Softmax,
                              Embedding, Lstm, MeanOverTime> auto&) { return false; },
               [](const LossOp auto&) { return false; }},
      op);
}

}  // namespace

Lowering::Lowering(const TypedGraph& graph_in, const BuildOptions& options_in,
                   const dnnl::engine& engine_in, ConvTuner& tuner_in, Program& program)
    : graph(graph_in),
      options(options_in),
      engine(engine_in),
      tuner(tuner_in),
      fusion(PlanFusion(graph_in, !options_in.observe)),
      training(options_in.phase != Phase::kForward),
      program_(program),
      needs_gradient_(NeedsGradient(graph_in)),
      slot_(graph_in.layers.size()),
      values_(graph_in.layers.size()),
      parameters_(graph_in.parameters.size()) {
  std::iota(slot_.begin(), slot_.end(), 0);
}

Status Lowering::Run() {
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    if (fusion.absorbed[i]) {
      ShareOutput(i, graph.layers[i].inputs[0]);
      continue;
    }
    TENCH_TRY(LowerLayer(i).In(fmt::format("layer '{}'", graph.layers[i].layer.name)));
  }
  if (!training) return Ok();
  in_backward_ = true;
  for (auto lower = backward_.rbegin(); lower != backward_.rend(); ++lower) (*lower)();
  AddClippedUpdates();
  return Ok();
}

Status Lowering::LowerLayer(size_t i) {
  try {
    std::visit(Overload{[&](const Input&) { LowerInput(*this, i); },
                        [&](const Convolution& op) { LowerConvolution(*this, i, op); },
                        [&](const Pooling& op) { LowerPooling(*this, i, op); },
                        [&](const Lrn& op) {
                          op.region == LrnRegion::kWithinChannel ? LowerLrnWithin(*this, i, op)
                                                                 : LowerLrn(*this, i, op);
                        },
                        [&](const Relu& op) {
                          IsPlainRelu(op) ? LowerActivation(*this, i, Activation::kRelu)
                                          : LowerLeakyRelu(*this, i, op);
                        },
                        [&](const Sigmoid&) { LowerActivation(*this, i, Activation::kSigmoid); },
                        [&](const Tanh&) { LowerActivation(*this, i, Activation::kTanh); },
                        [&](const Power& op) { LowerPower(*this, i, op); },
                        [&](const FullyConnected& op) { LowerFullyConnected(*this, i, op); },
                        [&](const Dropout& op) { LowerDropout(*this, i, op); },
                        [&](const Concat&) { LowerConcat(*this, i); },
                        [&](const Slice& op) { LowerSlice(*this, i, op); },
                        [&](const Add& op) {
                          op.coefficients.empty() ? LowerAdd(*this, i)
                                                  : LowerWeightedSum(*this, i, op);
                        },
                        [&](const Multiply&) { LowerProduct(*this, i); },
                        [&](const Maximum&) { LowerMaximum(*this, i); },
                        [&](const Flatten&) { LowerFlatten(*this, i); },
                        [&](const Reshape&) { LowerReshape(*this, i); },
                        [&](const Scale& op) { LowerScale(*this, i, op); },
                        [&](const Softmax&) { LowerSoftmax(*this, i); },
                        [&](const BatchNorm& op) { LowerBatchNorm(*this, i, op); },
                        [&](const Embedding& op) { LowerEmbedding(*this, i, op); },
                        [&](const Lstm& op) { LowerLstm(*this, i, op); },
                        [&](const MeanOverTime&) { LowerMeanOverTime(*this, i); },
                        [&](const SoftmaxCrossEntropy& op) { LowerSoftmaxLoss(*this, i, op); },
                        [&](const SigmoidCrossEntropy& op) { LowerSigmoidLoss(*this, i, op); },
                        [&](const MeanSquaredError& op) { LowerSquaredLoss(*this, i, op); }},
               graph.layers[i].layer.op);
    return Ok();
  } catch (const dnnl::error& error) {
    return Unsupported("oneDNN has no {} for this: {}", OpName(graph.layers[i].layer.op),
                       error.what());
  }
}

Tensor Lowering::NewTensor(const Md& md, Place place) {
  return {program_.AddBuffer({static_cast<int64_t>(md.get_size()), place}), md};
}

void Lowering::AddKernel(size_t layer, Direction direction, std::string name,
                         std::vector<Tensor> tensors, StepFunction kernel, int64_t flops) {
  Step step{layer, direction, std::move(name), {}, {}, std::move(kernel), flops};
  for (const Tensor& tensor : tensors) step.arguments.push_back({0, tensor});
  program_.AddStep(std::move(step));
}

void Lowering::AddPrimitive(size_t layer, Direction direction, const std::string& name,
                            const Md& scratchpad, const dnnl::primitive& primitive,
                            std::vector<Argument> arguments, int64_t flops) {
  if (scratchpad.get_size() > 0) arguments.push_back({DNNL_ARG_SCRATCHPAD, NewTensor(scratchpad)});
  program_.AddStep({layer, direction, name, std::move(arguments), primitive, nullptr, flops});
}

void Lowering::AddReorder(size_t layer, Direction direction, const Tensor& from, const Tensor& to) {
  const dnnl::reorder::primitive_desc pd(engine, from.md, engine, to.md, PlainAttributes());
  AddPrimitive(layer, direction, std::string("reorder ") + pd.impl_info_str(), pd.scratchpad_desc(),
               dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, 0);
}

Tensor Lowering::InLayout(size_t layer, Direction direction, const Tensor& tensor, const Md& md) {
  if (tensor.md == md) return tensor;
  const Tensor copy = NewTensor(md);
  AddReorder(layer, direction, tensor, copy);
  return copy;
}

Tensor Lowering::InputAs(size_t layer, size_t input, const Md& md) {
  Value& value = values_[slot_[graph.layers[layer].inputs[input]]];
  if (value.tensor.md == md && !(in_backward_ && value.recompute)) return value.tensor;
  for (const Tensor& copy : value.copies) {
    if (copy.md == md) return copy;
  }
  RemakeIfDue(value);
  if (value.tensor.md == md) return value.tensor;
  value.copies.push_back(InLayout(layer, Direction::kForward, value.tensor, md));
  return value.copies.back();
}

void Lowering::RemakeIfDue(Value& value) {
  if (in_backward_ && value.recompute) value.tensor = std::exchange(value.recompute, nullptr)();
}

bool Lowering::MayOverwrite(size_t layer, size_t input) const {
  const size_t producer = graph.layers[layer].inputs[input];
  if (options.observe || fusion.readers[producer] != 1 || !values_[slot_[producer]].copies.empty())
    return false;
  const Op& op = graph.layers[producer].layer.op;
  if (MayAliasInput(op)) return false;
  if (!training) return true;
  return !(fusion.absorbed[producer] || fusion.activation[producer] != Activation::kNone ||
           ReadsOutput(op));
}

void Lowering::Contribute(size_t layer, Gradient gradient) {
  if (WantsGradient(layer)) values_[slot_[layer]].gradients.push_back(std::move(gradient));
}

Lowering::Gradient Lowering::TakeGradient(size_t layer) {
  Value& value = values_[slot_[layer]];
  std::vector<Gradient> gradients;
  gradients.swap(value.gradients);
  if (gradients.empty()) return {};
  const Activation activation = fusion.derivative[layer];
  if (activation != Activation::kNone) RemakeIfDue(value);
  // A view of an activation that was moved into a concatenation is the same values in another
  // place.
  Tensor like = value.tensor;
  const bool regular =
      std::all_of(gradients.begin(), gradients.end(), [&](const Gradient& gradient) {
        return SameOrder(gradient.tensor.md, like.md) && RowsOf(gradient.tensor.md);
      });
  if (!regular || !RowsOf(like.md)) {
    const Md dense = DenseLike(like.md);
    if (activation == Activation::kNone) {
      like.md = dense;  // only its layout is looked at
    } else {
      like = InLayout(layer, Direction::kBackwardData, like, dense);
    }
    for (Gradient& gradient : gradients) {
      if (gradient.tensor.md == dense) continue;
      gradient = {InLayout(layer, Direction::kBackwardData, gradient.tensor, dense), true};
    }
  }
  if (gradients.size() == 1 && activation == Activation::kNone && IsDense(gradients[0].tensor.md))
    return gradients[0];
  return Sum(layer, std::move(gradients), like, activation);
}

Lowering::Gradient Lowering::Sum(size_t layer, std::vector<Gradient> gradients, const Tensor& like,
                                 Activation activation) {
  const auto reusable = std::find_if(
      gradients.begin(), gradients.end(),
      [](const Gradient& gradient) { return gradient.exclusive && IsDense(gradient.tensor.md); });
  // What is written over must be read first.
  if (reusable != gradients.end()) std::swap(*gradients.begin(), *reusable);
  const bool in_place = gradients[0].exclusive && IsDense(gradients[0].tensor.md);
  const Md dense = DenseLike(like.md);
  const Tensor target = in_place ? gradients[0].tensor : NewTensor(dense);

  int64_t length = RowsOf(target.md)->length;
  std::vector<Tensor> tensors = {target};
  for (const Gradient& gradient : gradients) tensors.push_back(gradient.tensor);
  if (activation != Activation::kNone) tensors.push_back(like);
  for (const Tensor& tensor : tensors) length = std::min(length, RowsOf(tensor.md)->length);
  std::vector<Rows> rows;
  for (const Tensor& tensor : tensors) rows.push_back(CutRows(*RowsOf(tensor.md), length));

  const size_t count = gradients.size();
  std::vector<RowPointer> sources(count);
  AddKernel(layer, Direction::kBackwardData,
            activation == Activation::kNone ? "sum" : "sum+derivative", tensors,
            [rows, count, activation, sources](std::span<float* const> p, RunState&) mutable {
              for (size_t i = 0; i < count; ++i) sources[i] = {p[i + 1], rows[i + 1]};
              const RowPointer activated = activation == Activation::kNone
                                               ? RowPointer{}
                                               : RowPointer{p[count + 1], rows[count + 1]};
              SumGradients(p[0], rows[0], sources, activated, activation);
            });
  return {target, true};
}

Tensor Lowering::Reuse(const Gradient& gradient, const Md& md) {
  return gradient.exclusive && gradient.tensor.md == md ? gradient.tensor : NewTensor(md);
}

Tensor Lowering::DeclareParameter(size_t layer, size_t index, const Md& plain, const Md& home) {
  ParameterPlace& place = parameters_[ParameterIndex(layer, index)];
  place.plain = plain;
  place.home = NewTensor(home, Place::kPinned);
  if (updates() && graph.parameters[ParameterIndex(layer, index)].trained) {
    place.momentum = NewTensor(home, Place::kPinned);
    if (options.solver.type == SolverType::kAdam) place.momentum2 = NewTensor(home, Place::kPinned);
  }
  return place.home;
}

Tensor Lowering::NewGradient(size_t layer, size_t index, const Md& md) {
  const Tensor gradient = NewTensor(md, options.observe ? Place::kPinned : Place::kArena);
  parameters_[ParameterIndex(layer, index)].gradient = gradient;
  return gradient;
}

void Lowering::Update(size_t layer, size_t index, const Tensor& gradient) {
  if (!updates()) return;
  const size_t parameter = ParameterIndex(layer, index);
  const Tensor in_home =
      InLayout(layer, Direction::kUpdate, gradient, parameters_[parameter].home.md);
  if (options.solver.clip_gradients > 0) {
    pending_.emplace_back(parameter, in_home);
  } else {
    AddUpdate(parameter, in_home);
  }
}

void Lowering::AddUpdate(size_t parameter, const Tensor& gradient) {
  const ParameterPlace& place = parameters_[parameter];
  const UpdateRule rule = RuleOf(options.solver, graph.parameters[parameter]);
  const auto count = static_cast<int64_t>(place.home.md.get_size() / sizeof(float));
  const size_t layer = graph.parameters[parameter].layer;
  if (options.solver.type == SolverType::kSgd && options.solver.clip_gradients == 0) {
    AddKernel(
        layer, Direction::kUpdate, "sgd", {place.home, place.momentum, gradient},
        [rule, count](std::span<float* const> p, RunState& state) {
          SgdUpdate(p[0], p[1], p[2], count, rule, state.lr);
        },
        4 * count);
    return;
  }
  std::vector<Tensor> tensors = {place.home, gradient, place.momentum};
  if (place.momentum2) tensors.push_back(place.momentum2);
  AddKernel(
      layer, Direction::kUpdate, std::string(Name(options.solver.type)), tensors,
      [count, optimizer = OptimizerRuleOf(options.solver, graph.parameters[parameter])](
          std::span<float* const> p, RunState& state) {
        const OptimizerTensors blocks{p[0], p[1], p[2], p.size() > 3 ? p[3] : nullptr, count};
        OptimizerUpdate(blocks, optimizer, {state.lr, state.clip_scale, state.updates});
      },
      8 * count);
}

void Lowering::AddClippedUpdates() {
  std::vector<Tensor> counted;
  std::vector<int64_t> counts;
  for (const auto& [parameter, gradient] : pending_) {
    if (graph.parameters[parameter].lr_mult == 0) continue;
    counted.push_back(gradient);
    counts.push_back(static_cast<int64_t>(gradient.md.get_size() / sizeof(float)));
  }
  if (pending_.empty()) return;
  AddKernel(
      graph.layers.size() - 1, Direction::kUpdate, "clip", counted,
      [counts, limit = options.solver.clip_gradients](std::span<float* const> p, RunState& state) {
        double squares = 0;
        for (size_t i = 0; i < p.size(); ++i) squares += SquaredNorm(p[i], counts[i]);
        const double norm = std::sqrt(squares);
        state.clip_scale = norm > limit ? limit / norm : 1;
      });
  for (const auto& [parameter, gradient] : pending_) AddUpdate(parameter, gradient);
}

dnnl::primitive_attr PlainAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::primitive_attr WithActivation(Activation activation) {
  dnnl::primitive_attr attributes = PlainAttributes();
  if (activation == Activation::kNone) return attributes;
  dnnl::post_ops post;
  post.append_eltwise(activation == Activation::kRelu      ? dnnl::algorithm::eltwise_relu
                      : activation == Activation::kSigmoid ? dnnl::algorithm::eltwise_logistic
                                                           : dnnl::algorithm::eltwise_tanh,
                      0, 0);
  attributes.set_post_ops(post);
  return attributes;
}

}  // namespace tench::native
