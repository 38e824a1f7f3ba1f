// SPDX-License-Identifier: Apache-2.0
#pragma once
// The problem that a layer's kernel solves, as text, and the least memory traffic that it needs.
// Not aware of frameworks or times.
// Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "net/graph.h"

namespace tench {

// A convolution in benchdnn's form ("mb16g1ic3ih227iw227oc96oh55ow55kh11kw11sh4sw4ph0pw0"), a fully
// connected layer as the product of its forward pass ("m16n4096k9216"), an LSTM with both products
// of one step; "" for other ops.
std::string ProblemText(const TypedGraph& graph, size_t layer);

// Bytes of every input, output and parameter of the layer, each read or written once per direction:
// "forward" reads the inputs and parameters and writes the output; a gradient reads the gradient of
// the output and what its formula needs. "backward" is both gradients. 0 for "update".
int64_t LeastBytes(const TypedGraph& graph, size_t layer, std::string_view direction);

}  // namespace tench
