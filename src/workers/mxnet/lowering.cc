// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/lowering.h"

#include <limits>

#include "net/op_traits.h"

namespace tench::mxnet {

Result<Lowered> Lowering::Run() {
  lowered_.parameters.resize(graph_.parameters.size());
  for (size_t i = 0; i < graph_.layers.size(); ++i) {
    const TypedLayer& layer = graph_.layers[i];
    // The wheel is built without 64-bit indices.
    if (ElementCount(layer.output.shape) > std::numeric_limits<int32_t>::max()) {
      return Unsupported("layer '{}': an output of {} is more than MXNet 1.9 can index",
                         layer.layer.name, ToString(layer.output.shape));
    }
    TENCH_TRY(Lower(i).In(fmt::format("layer '{}'", layer.layer.name)));
  }
  lowered_.heads = TENCH_TRY(Heads());
  return std::move(lowered_);
}

Status Lowering::Lower(size_t i) {
  const auto keep = [&](Result<Symbol> symbol) -> Status {
    values_[i].batch_major = TENCH_TRY(std::move(symbol));
    return Ok();
  };
  return std::visit(
      Overload{[&](const Input&) {
                 return keep(Variable(NameOf(i), graph_.layers[i].output.shape, false));
               },
               [&](const Relu& op) {
                 return keep(op.negative_slope == 0 ? Activation(i, "relu") : LeakyRelu(i, op));
               },
               [&](const Sigmoid&) { return keep(Activation(i, "sigmoid")); },
               [&](const Tanh&) { return keep(Activation(i, "tanh")); },
               [&](const Flatten&) -> Status {
                 const Symbol in = TENCH_TRY(In(i));
                 return keep(Apply(i, "Flatten", {}, {in}));
               },
               [&](const Embedding& op) { return LowerEmbedding(i, op); },
               [&](const Lstm& op) { return LowerLstm(i, op); },
               [&](const auto& op) { return keep(Lower(i, op)); }},
      graph_.layers[i].layer.op);
}

Result<Symbol> Lowering::In(size_t i, size_t input) {
  return Ordered(graph_.layers[i].inputs[input], TimeOrder::kBatchMajor);
}

Result<Symbol> Lowering::Ordered(size_t layer, TimeOrder order) {
  Value& value = values_[layer];
  const bool batch = order == TimeOrder::kBatchMajor;
  Symbol& wanted = batch ? value.batch_major : value.time_major;
  if (wanted == nullptr) {
    const Symbol other = batch ? value.time_major : value.batch_major;
    const bool matrix = graph_.layers[layer].output.shape.size() == 2;
    wanted = TENCH_TRY(Apply(layer, "transpose", {{"axes", matrix ? "(1, 0)" : "(1, 0, 2)"}},
                             {other}, batch ? ".batch" : ".time"));
  }
  return wanted;
}

Result<Symbol> Lowering::Variable(const std::string& name, const Shape& shape, bool trained) {
  lowered_.variables[name] = shape;
  if (trained) lowered_.trained.insert(name);
  return maker_.Variable(name);
}

Result<Symbol> Lowering::Weight(size_t i, size_t number) {
  const size_t index = graph_.layers[i].parameters[number];
  const Parameter& parameter = graph_.parameters[index];
  lowered_.parameters[index].variable = parameter.name;
  return Variable(parameter.name, parameter.shape, parameter.trained);
}

Result<Symbol> Lowering::Apply(size_t i, const char* op, const Attributes& attributes,
                               std::vector<Symbol> inputs, const std::string& suffix) {
  return maker_.Apply(op, NameOf(i) + suffix, attributes, std::move(inputs));
}

// Observed values get a separate node, so that no in-place op overwrites them.
Result<Symbol> Lowering::Heads() {
  std::vector<Symbol> heads = loss_values_;
  heads.insert(heads.end(), gradient_heads_.begin(), gradient_heads_.end());
  if (options_.observe) {
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      const TypedLayer& layer = graph_.layers[i];
      if (layer.output.dtype != DType::kF32 || std::holds_alternative<Input>(layer.layer.op) ||
          IsLoss(layer.layer.op))
        continue;
      lowered_.observed[layer.layer.name] = heads.size();
      const Symbol value = TENCH_TRY(Ordered(i, TimeOrder::kBatchMajor));
      heads.push_back(TENCH_TRY(Constant(layer.layer.name + ".observed", value)));
    }
    for (size_t i = 0; i < lowered_.losses.size(); ++i) lowered_.observed[lowered_.losses[i]] = i;
  }
  if (heads.empty()) return Unsupported("the network has no loss");
  return maker_.Group(heads);
}

}  // namespace tench::mxnet
