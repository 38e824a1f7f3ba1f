// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network of one layer of another network, for replaying that op alone in several workers: the
// layer with its shapes and parameters, inputs generated from a seed, and a loss over its output.
// If the layer has a data gradient in its network, each real input comes from a `scale` layer, so
// that it has one here too.
// Thread safety: pure.

#include <string>

#include "net/graph.h"

namespace tench {

// `layer` is the name of a layer of `graph` that is no input. The result's name is "NETWORK/LAYER".
Result<Graph> LayerNetwork(const TypedGraph& graph, const std::string& layer);

}  // namespace tench
