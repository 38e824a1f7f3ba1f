// SPDX-License-Identifier: Apache-2.0
#include "net/op_parameters.h"

#include <cmath>

#include "net/fill.h"
#include "net/op_shape.h"
#include "net/op_traits.h"

namespace tench {
namespace {

struct Collector {
  const Layer& layer;
  std::vector<Parameter> parameters;

  void Add(std::string_view suffix, Shape shape, const ParameterRule& rule) {
    parameters.push_back({fmt::format("{}.{}", layer.name, suffix), std::move(shape), rule.fill,
                          rule.lr_mult, rule.decay_mult, true, 0});
  }
  void AddState(std::string_view suffix, Shape shape, double start) {
    const Fill fill{FillKind::kConstant, start, 0};
    parameters.push_back(
        {fmt::format("{}.{}", layer.name, suffix), std::move(shape), fill, 0, 0, false, 0});
  }
  void AddWeight(Shape shape) { Add("weight", std::move(shape), layer.weight); }
  void AddBias(int64_t size) { Add("bias", {size}, layer.bias); }
};

Status CheckRule(std::string_view what, const ParameterRule& rule) {
  TENCH_TRY(CheckFill(rule.fill).In(what));
  if (rule.fill.kind == FillKind::kInteger)
    return Failed("{}: integers fill inputs, not parameters", what);
  for (double mult : {rule.lr_mult, rule.decay_mult}) {
    if (!std::isfinite(mult) || mult < 0)
      return Failed("{}: lr_mult and decay_mult must be at least 0, not {}", what, mult);
  }
  return Ok();
}

bool NeedsFan(FillKind kind) {
  return kind == FillKind::kXavier || kind == FillKind::kMsra || kind == FillKind::kMsraFanOut;
}

}  // namespace

bool HasWeight(const Op& op) {
  return std::visit(
      Overload{[](const BatchNorm& norm) { return norm.affine; },
               [](const AnyOf<Convolution, FullyConnected, Scale, Embedding, Lstm> auto&) {
                 return true;
               },
               [](const ParameterlessOp auto&) { return false; }},
      op);
}

bool HasBias(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Convolution, FullyConnected, Scale> auto& each) { return each.bias; },
               [](const BatchNorm& norm) { return norm.affine; }, [](const Lstm&) { return true; },
               [](const Embedding&) { return false; },
               [](const ParameterlessOp auto&) { return false; }},
      op);
}

Result<std::vector<Parameter>> LayerParameters(const Layer& layer,
                                               std::span<const TypedLayer* const> inputs) {
  // An unused rule is a mistake in the file, and would change the fingerprint without any effect.
  if (!HasWeight(layer.op) && layer.weight != ParameterRule{})
    return Failed("{} has no weights to fill", OpName(layer.op));
  if (!HasBias(layer.op) && layer.bias != ParameterRule{})
    return Failed("{} has no bias to fill here", OpName(layer.op));
  TENCH_TRY(CheckRule("weight", layer.weight));
  TENCH_TRY(CheckRule("bias", layer.bias));

  Collector all{layer, {}};
  const auto size = [&](size_t dimension) { return inputs[0]->output.shape[dimension]; };
  std::visit(
      Overload{[&](const Convolution& op) {
                 all.AddWeight({op.out_channels, size(1) / op.groups, op.kernel.h, op.kernel.w});
                 if (op.bias) all.AddBias(op.out_channels);
               },
               [&](const FullyConnected& op) {
                 all.AddWeight({op.out_features, size(1)});
                 if (op.bias) all.AddBias(op.out_features);
               },
               [&](const Scale& op) {
                 all.AddWeight({size(1)});
                 if (op.bias) all.AddBias(size(1));
               },
               [&](const BatchNorm& op) {
                 if (op.affine) all.AddWeight({size(1)});
                 if (op.affine) all.AddBias(size(1));
                 all.AddState("running_mean", {size(1)}, 0);
                 all.AddState("running_var", {size(1)}, 1);
               },
               [&](const Embedding& op) {
                 all.AddWeight({op.vocabulary, op.dimension});
               },
               [&](const Lstm& op) {
                 all.Add("weight_input", {4 * op.hidden, size(2)}, layer.weight);
                 all.Add("weight_hidden", {4 * op.hidden, op.hidden}, layer.weight);
                 all.AddBias(4 * op.hidden);
               },
               [](const ParameterlessOp auto&) {}},
      layer.op);
  for (Parameter& parameter : all.parameters) {
    TENCH_TRY(CheckShape(parameter.shape, parameter.name));
    if (NeedsFan(parameter.fill.kind) && parameter.shape.size() < 2) {
      return Failed("{} has one dimension: xavier and msra need two or more", parameter.name);
    }
    parameter.fill = ResolveFill(parameter.fill, parameter.shape);
  }
  return std::move(all.parameters);
}

}  // namespace tench
