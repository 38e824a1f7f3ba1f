// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which parameters an op has: names, shapes and how they begin. The order is that of the op's
// comment in op.h.

#include <span>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

bool HasWeight(const Op& op);
bool HasBias(const Op& op);

// The layer's parameters with resolved fills; `inputs` as for OutputType, which must have accepted
// the layer. The index of the layer is left for the caller to set. Errors do not name the layer.
Result<std::vector<Parameter>> LayerParameters(const Layer& layer,
                                               std::span<const TypedLayer* const> inputs);

}  // namespace tench
