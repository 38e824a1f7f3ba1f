// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/bn_scale_fusion.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "net/op_traits.h"

namespace tench {

void FuseBatchNorms(CaffeNetwork& network) {
  std::vector<Layer>& layers = network.graph.layers;
  std::unordered_map<std::string, size_t> index;
  std::unordered_map<std::string, int> readers;
  for (size_t i = 0; i < layers.size(); ++i) {
    index[layers[i].name] = i;
    for (const std::string& input : layers[i].inputs) ++readers[input];
  }
  std::unordered_map<std::string, std::string> renamed;  // Scale -> its batch norm
  for (Layer& layer : layers) {
    for (std::string& input : layer.inputs) {
      if (const auto norm = renamed.find(input); norm != renamed.end()) input = norm->second;
    }
    const Scale* scale = std::get_if<Scale>(&layer.op);
    if (scale == nullptr || readers[layer.inputs.at(0)] != 1) continue;
    Layer& source = layers[index.at(layer.inputs[0])];
    BatchNorm* norm = std::get_if<BatchNorm>(&source.op);
    if (norm == nullptr || norm->affine) continue;
    norm->affine = true;
    source.weight = layer.weight;
    // A Scale without a bias becomes a shift that stays at zero.
    source.bias = scale->bias ? layer.bias : ParameterRule{{FillKind::kConstant, 0, 0}, 0, 0};
    network.names.scales[source.name] = {network.names.Of(layer.name), scale->bias};
    renamed[layer.name] = source.name;
  }
  std::erase_if(layers, [&](const Layer& layer) { return renamed.contains(layer.name); });
}

void DropUnused(CaffeNetwork& network) {
  std::unordered_set<std::string> needed;
  std::vector<std::string> dropped;
  std::vector<Layer>& layers = network.graph.layers;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (IsLoss(layer->op)) needed.insert(layer->name);
    if (needed.contains(layer->name)) {
      needed.insert(layer->inputs.begin(), layer->inputs.end());
    } else if (!std::holds_alternative<Input>(layer->op)) {
      dropped.push_back(layer->name);
    }
  }
  std::erase_if(layers, [&](const Layer& layer) { return !needed.contains(layer.name); });
  if (dropped.empty()) return;
  std::reverse(dropped.begin(), dropped.end());
  network.notes.push_back(fmt::format("no loss needs {}; left out", Join(dropped, ", ")));
}

}  // namespace tench
