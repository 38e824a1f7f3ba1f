// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every distinct (op, shape) of a network alone: one network of many separate branches, a branch
// per op, so that one job tests them all. A branch is: what makes the op's inputs, the op under its
// own name, and a squared error against a seeded target, which gives every element of the output a
// gradient of its own. A worker tells the gradients of parameters only, so each input comes out of
// an op with parameters that passes exact bits on and whose weight gradient shows the gradient of
// the data:
//   (N, F)        a dense layer over the identity matrix: its weight is the input, its gradient is
//   the data gradient itself; (N, T, F)     an embedding that reads each row once: the same; (N, C,
//   H, W)  a grouped 1×1 convolution with identity weights: up to 8 seeded projections of the data
//   gradient per channel.
// Dropout is the identity here and is checked apart. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "net/graph.h"

namespace tench {

struct OpProbe {
  Graph network;
  std::vector<std::string> ops;  // the layers under test
  std::map<std::string, std::string>
      branch_of;  // layer of `network` -> the op whose branch it is in
  // Tensors that the fills cannot make, by name.
  std::map<std::string, std::vector<float>> reals;
  std::map<std::string, std::vector<int32_t>> integers;
};

OpProbe MakeOpProbe(const TypedGraph& graph);

}  // namespace tench
