// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests of adapters: the single-op networks that every adapter is compared on with the
// reference worker. A case is one op in one variant (padding, stride, groups, rounding, layout,
// channel count), between layers that give it an input with a gradient and a loss whose gradient
// differs at every element. Adding an op means adding its variants here; every adapter's parity
// test then covers it. Not aware of any framework. Plain values.

#include <string>
#include <vector>

#include "net/builder.h"
#include "net/graph.h"

namespace tench {

// A chain of layers over one data input, with parameters that are neither zero nor symmetric.
class OpChain {
 public:
  explicit OpChain(const Shape& sample);

  // Reads the layer before, unless `inputs` names others.
  OpChain& Then(const std::string& name, const Op& op, std::vector<std::string> inputs = {});
  OpChain& ThenInput(const std::string& name, const Input& input);
  // Ends in softmax cross-entropy, over `loss_weight`.
  Graph Classify(int64_t classes = 5, double loss_weight = 0.7);
  // Ends in a loss over the last layer and `target`.
  Graph EndWith(const std::string& name, const Op& loss, const std::string& target);

 private:
  GraphBuilder builder_{"net"};
  std::string top_ = "data";
};

// A convolution without bias, for the place before a batch norm: there the bias gradient is zero in
// exact arithmetic, and only rounding would be compared.
Convolution UnbiasedConvolution(int64_t out_channels);

struct OpCase {
  std::string name;  // begins with the op: "conv 3x3 stride 2", "lstm of odd width"
  Graph graph;
};

std::vector<OpCase> OpCases();

}  // namespace tench
