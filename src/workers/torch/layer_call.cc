// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeLayerCall(const LayerSite& site) {
  return std::visit(Overload{[](const Input&) -> Result<LayerCall> { return LayerCall(); },
                             [&](const auto& op) { return MakeCall(op, site); }},
                    site.graph.layers[site.layer].layer.op);
}

}  // namespace tench::pytorch
