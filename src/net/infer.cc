// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "net/graph.h"
#include "net/op_parameters.h"
#include "net/op_shape.h"
#include "net/op_traits.h"

namespace tench {
namespace {

constexpr size_t kMaxNameBytes = 200;  // a tensor's name becomes part of a file name

Status CheckName(std::string_view name) {
  if (name.empty()) return Failed("the name is empty");
  if (name.size() > kMaxNameBytes)
    return Failed("the name has more than {} characters", kMaxNameBytes);
  const bool plain =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!plain) return Failed("the name may contain only printable ASCII characters without spaces");
  return Ok();
}

using Index = std::unordered_map<std::string_view, size_t>;

Error UnknownInput(const Graph& graph, std::string_view input) {
  std::vector<std::string> names;
  for (const Layer& layer : graph.layers) {
    if (layer.name == input)
      return Failed("input '{}' is a later layer; layers must be in topological order", input);
    names.push_back(layer.name);
  }
  return Failed("input '{}' is no layer{}", Printable(input), Hint(input, names));
}

Result<TypedLayer> TypeLayer(const Graph& graph, const Layer& layer, const Index& index,
                             TypedGraph& typed) {
  TypedLayer result{layer, {}, {}, {}};
  std::vector<const TypedLayer*> inputs;
  for (const std::string& input : layer.inputs) {
    const auto found = index.find(input);
    if (found == index.end()) return UnknownInput(graph, input);
    result.inputs.push_back(found->second);
    inputs.push_back(&typed.layers[found->second]);
  }
  result.output = TENCH_TRY(OutputType(layer.op, inputs, typed.batch));
  std::vector<Parameter> parameters = TENCH_TRY(LayerParameters(layer, inputs));
  for (Parameter& parameter : parameters) {
    parameter.layer = typed.layers.size();
    result.parameters.push_back(typed.parameters.size());
    typed.parameters.push_back(std::move(parameter));
  }
  return result;
}

Status CheckLosses(const TypedGraph& graph) {
  bool main_loss = false, auxiliary = false;
  const std::vector<bool> needs_gradient = NeedsGradient(graph);
  for (const TypedLayer& layer : graph.layers) {
    if (!IsLoss(layer.layer.op)) continue;
    (IsAuxiliary(layer.layer.op) ? auxiliary : main_loss) = true;
    // Frameworks disagree on whether a gradient flows into a target, so a target must be data.
    if (needs_gradient[layer.inputs[1]]) {
      return Failed("layer '{}': its targets '{}' depend on parameters", layer.layer.name,
                    layer.layer.inputs[1]);
    }
  }
  if (main_loss) return Ok();
  return auxiliary ? Failed("every loss is auxiliary: the forward phase would have none")
                   : Failed("the network has no loss");
}

// Some frameworks would compute a layer without readers, and others would prune it.
Status CheckUse(const TypedGraph& graph) {
  std::vector<bool> used(graph.layers.size());
  for (const TypedLayer& layer : graph.layers) {
    for (size_t input : layer.inputs) used[input] = true;
  }
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i].layer;
    if (!used[i] && !IsLoss(layer.op))
      return Failed("layer '{}': no layer reads its output", layer.name);
  }
  return Ok();
}

// Layers, parameters and momenta share one namespace, in files and in the generator.
Status CheckTensorNames(const TypedGraph& graph, const Index& layers) {
  for (const Parameter& parameter : graph.parameters) {
    for (const std::string& name :
         {parameter.name, parameter.name + ".momentum", parameter.name + ".momentum2"}) {
      if (layers.contains(name)) {
        return Failed("layer '{}': a tensor of layer '{}' has the same name", name,
                      graph.layers[parameter.layer].layer.name);
      }
    }
  }
  return Ok();
}

Result<TypedGraph> InferNamed(const Graph& graph, int64_t batch) {
  TENCH_TRY(CheckName(graph.name));
  if (batch < 1 || batch > kMaxSize)
    return Failed("the batch is {}; it must be from 1 to {}", batch, kMaxSize);
  if (graph.layers.empty()) return Failed("the network has no layers");
  if (graph.layers.size() > kMaxLayers)
    return Failed("the network has more than {} layers", kMaxLayers);
  TypedGraph typed{graph.name, batch, {}, {}};
  typed.layers.reserve(graph.layers.size());
  Index index;
  for (const Layer& layer : graph.layers) {
    const std::string context = fmt::format("layer '{}'", Printable(layer.name));
    TENCH_TRY(CheckName(layer.name).In(context));
    if (index.contains(layer.name)) return Failed("two layers are named '{}'", layer.name);
    TypedLayer next = TENCH_TRY(TypeLayer(graph, layer, index, typed).In(context));
    index.emplace(layer.name, typed.layers.size());
    typed.layers.push_back(std::move(next));
  }
  TENCH_TRY(CheckLosses(typed));
  TENCH_TRY(CheckUse(typed));
  TENCH_TRY(CheckTensorNames(typed, index));
  return typed;
}

}  // namespace

Result<TypedGraph> Infer(const Graph& graph, int64_t batch) {
  return InferNamed(graph, batch).In(graph.name.empty() ? "network" : Printable(graph.name));
}

std::vector<bool> NeedsGradient(const TypedGraph& graph) {
  std::vector<bool> needs(graph.layers.size());
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const TypedLayer& layer = graph.layers[i];
    const auto trained = [&](size_t parameter) { return graph.parameters[parameter].trained; };
    const auto flows = [&](size_t input) { return static_cast<bool>(needs[input]); };
    needs[i] = std::any_of(layer.parameters.begin(), layer.parameters.end(), trained) ||
               std::any_of(layer.inputs.begin(), layer.inputs.end(), flows);
  }
  return needs;
}

Graph InferenceGraph(const Graph& graph) {
  std::unordered_set<std::string_view> used, needed;
  for (const Layer& layer : graph.layers) used.insert(layer.inputs.begin(), layer.inputs.end());
  std::vector<const Layer*> kept;
  for (auto layer = graph.layers.rbegin(); layer != graph.layers.rend(); ++layer) {
    // A layer without readers stays, so that Infer rejects it in every phase.
    if (IsAuxiliary(layer->op) || (used.contains(layer->name) && !needed.contains(layer->name)))
      continue;
    needed.insert(layer->inputs.begin(), layer->inputs.end());
    kept.push_back(&*layer);
  }
  Graph result{graph.name, {}};
  for (auto layer = kept.rbegin(); layer != kept.rend(); ++layer) result.layers.push_back(**layer);
  return result;
}

}  // namespace tench
