// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shape inference of a single op: input types to output type, or an error with the reason. Not
// aware of the rest of the graph (see infer.cc). Errors do not name the layer; the caller does.
// Pure.

#include <span>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// `inputs` are the typed layers that the op reads, in the order of the op's comment.
Result<TensorType> OutputType(const Op& op, std::span<const TypedLayer* const> inputs,
                              int64_t batch);

// Checks that all sizes are positive and the product is at most kMaxElements. `what` is the subject
// of the error: "its output".
Status CheckShape(const Shape& shape, std::string_view what);

}  // namespace tench
