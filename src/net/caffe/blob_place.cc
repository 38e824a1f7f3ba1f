// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/blob_place.h"

#include <algorithm>
#include <set>

#include "net/op_traits.h"

namespace tench {
namespace {

// The Caffe type of an op with parameters; "" if Caffe has no equivalent.
std::string TypeName(const Op& op) {
  return std::visit(
      Overload{[](const Convolution&) { return "Convolution"; },
               [](const FullyConnected&) { return "InnerProduct"; },
               [](const BatchNorm&) { return "BatchNorm"; }, [](const Scale&) { return "Scale"; },
               [](const AnyOf<Embedding, Lstm> auto&) { return ""; },
               [](const ParameterlessOp auto&) { return ""; }},
      op);
}

std::optional<BlobPlace> BatchNormPlace(const TypedLayer& layer, int position,
                                        const CaffeNames& names) {
  const int trained = std::get<BatchNorm>(layer.layer.op).affine ? 2 : 0;
  if (position >= trained)
    return BlobPlace{names.Of(layer.layer.name), "BatchNorm", position - trained, true};
  const auto scale = names.scales.find(layer.layer.name);
  if (scale == names.scales.end() || scale->second.name.empty()) return std::nullopt;
  if (position == 1 && !scale->second.bias) return std::nullopt;
  return BlobPlace{scale->second.name, "Scale", position, false};
}

}  // namespace

const std::string& CaffeNames::Of(const std::string& layer) const {
  const auto found = layers.find(layer);
  return found == layers.end() ? layer : found->second;
}

CaffeNames DefaultCaffeNames(const Graph& graph) {
  std::set<std::string> taken;
  for (const Layer& layer : graph.layers) taken.insert(layer.name);
  CaffeNames names;
  for (const Layer& layer : graph.layers) {
    const BatchNorm* norm = std::get_if<BatchNorm>(&layer.op);
    if (norm == nullptr || !norm->affine) continue;
    std::string scale = layer.name + "_scale";
    while (!taken.insert(scale).second) scale += '_';
    names.scales[layer.name] = {scale, true};
  }
  return names;
}

Result<std::vector<std::optional<BlobPlace>>> BlobPlaces(const TypedGraph& graph,
                                                         const CaffeNames& names) {
  std::vector<std::optional<BlobPlace>> places;
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    const TypedLayer& layer = graph.layers[graph.parameters[i].layer];
    const auto at = std::find(layer.parameters.begin(), layer.parameters.end(), i);
    const int position = static_cast<int>(at - layer.parameters.begin());
    const std::string type = TypeName(layer.layer.op);
    if (type.empty())
      return Unsupported("layer '{}': Caffe has no weights for the op '{}'", layer.layer.name,
                         OpName(layer.layer.op));
    places.push_back(type == "BatchNorm"
                         ? BatchNormPlace(layer, position, names)
                         : BlobPlace{names.Of(layer.layer.name), type, position, false});
  }
  return places;
}

double StatisticsFactor(const BatchNorm& op) { return op.momentum > 0 ? 1 / op.momentum : 1; }

}  // namespace tench
