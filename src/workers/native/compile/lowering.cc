// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/lowering.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "workers/native/compile/op_lowering.h"

namespace tench::native {
namespace {

// Whether the lowering may give the op its input's buffer as output, so that overwriting the one
// overwrites the other. A network's input belongs to the caller.
bool MayAliasInput(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Input, Flatten, Reshape, Dropout> auto&) { return true; },
               [](const AnyOf<Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, FullyConnected,
                              Concat, Slice, Add, Multiply, Maximum, BatchNorm, tench::Scale,
                              Softmax, Embedding, Lstm, MeanOverTime> auto&) { return false; },
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
                        [&](const tench::Scale& op) { LowerScale(*this, i, op); },
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
    return Unsupported("oneDNN has no implementation of {} for these shapes: {}",
                       OpName(graph.layers[i].layer.op), error.what());
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
  RecomputeIfNeeded(value);
  if (value.tensor.md == md) return value.tensor;
  value.copies.push_back(InLayout(layer, Direction::kForward, value.tensor, md));
  return value.copies.back();
}

void Lowering::RecomputeIfNeeded(Value& value) {
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

}  // namespace tench::native
