// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of an op: names, shapes and fills, in the order of the op's comment in op.h. Pure.

#include <span>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

bool HasWeight(const Op& op);
bool HasBias(const Op& op);

// The layer's parameters with resolved fills. OutputType must have accepted the same `inputs`. The
// caller sets Parameter::layer. Errors do not name the layer.
Result<std::vector<Parameter>> LayerParameters(const Layer& layer,
                                               std::span<const TypedLayer* const> inputs);

}  // namespace tench
