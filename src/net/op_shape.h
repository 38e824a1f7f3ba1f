// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shape rule of every op: from the types of its inputs to the type of its output, or an error
// that says what does not fit. Judges one layer by itself; how layers fit together is infer.cc's
// matter. Errors do not name the layer: the caller does.

#include <span>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// `inputs` are the layers whose outputs the op reads, already typed, in the order of the op's
// comment.
Result<TensorType> OutputType(const Op& op, std::span<const TypedLayer* const> inputs,
                              int64_t batch);

// A shape that may be allocated: positive sizes, at most kMaxElements in all. `what` opens the
// error: "its output".
Status CheckShape(const Shape& shape, std::string_view what);

}  // namespace tench
