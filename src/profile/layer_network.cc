// SPDX-License-Identifier: Apache-2.0
#include "profile/layer_network.h"

#include <algorithm>

#include "base/text.h"
#include "net/builder.h"
#include "net/op_traits.h"

namespace tench {
namespace {

// Positive, so that a power with a fractional exponent is defined.
const Fill kValues{FillKind::kUniform, 0.25, 1.75};

Shape Sample(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

Result<size_t> Find(const TypedGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i].layer;
    if (std::holds_alternative<Input>(layer.op)) continue;
    if (layer.name == name) return i;
    names.push_back(layer.name);
  }
  return Failed("{} has no layer '{}'{}", graph.name, Printable(name, 60), Hint(name, names));
}

}  // namespace

Result<Graph> LayerNetwork(const TypedGraph& graph, const std::string& name) {
  const size_t index = TENCH_TRY(Find(graph, name));
  const TypedLayer& typed = graph.layers[index];
  const std::vector<bool> needs_gradient = NeedsGradient(graph);
  GraphBuilder builder(graph.name + "/" + name);
  std::vector<std::string> inputs;
  for (size_t i = 0; i < typed.inputs.size(); ++i) {
    const TypedLayer& producer = graph.layers[typed.inputs[i]];
    const std::string input = fmt::format("{}.x{}", name, i);
    if (const auto* integers = std::get_if<Input>(&producer.layer.op);
        integers != nullptr && producer.output.dtype == DType::kI32) {
      inputs.push_back(builder.Append(input, *integers, {}));
      continue;
    }
    const Shape& shape = producer.output.shape;
    // `scale` exists for images and vectors only.
    const bool scaled = needs_gradient[typed.inputs[i]] && (shape.size() == 4 || shape.size() == 2);
    const Input data{InputRole::kData, Sample(shape), kValues};
    inputs.push_back(builder.Append(scaled ? input + ".data" : input, data, {}));
    if (scaled)
      inputs.back() =
          builder.Append(input, Scale{false}, {inputs.back()}, {{FillKind::kConstant, 1, 0}, 1, 1});
  }
  Op op = typed.layer.op;
  // A network needs a loss that is not auxiliary.
  if (auto* loss = std::get_if<SoftmaxCrossEntropy>(&op)) loss->auxiliary = false;
  builder.Append(name, std::move(op), inputs, typed.layer.weight, typed.layer.bias);
  if (!IsLoss(typed.layer.op)) {
    const Input target{InputRole::kData, Sample(typed.output.shape), {FillKind::kUniform, 0, 1}};
    builder.Append(name + ".target", target, {});
    builder.Append(name + ".loss", MeanSquaredError{}, {name, name + ".target"});
  }
  return builder.Take();
}

}  // namespace tench
