// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network that tests every distinct (op, shape) of another network in isolation. It has one
// branch per op, so that one job tests them all. A branch generates the op's inputs, applies the
// op, and compares the output with a seeded target by a squared error, which gives every output
// element a different gradient.
//
// Workers report only the gradients of parameters. So an op with parameters makes each input
// exactly, and its weight gradient reveals the data gradient:
//   (N, F)        a fully connected layer on the identity matrix: its weight is the input and its
//                 weight gradient is the data gradient
//   (N, T, F)     an embedding that reads each row once: likewise
//   (N, C, H, W)  a grouped 1×1 convolution with identity weights: up to 8 seeded projections of
//   the
//                 data gradient per channel
// Dropout is the identity in probes and has a trial of its own. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "net/graph.h"

namespace tench {

struct OpProbe {
  Graph network;
  std::vector<std::string> ops;                  // the layers under test
  std::map<std::string, std::string> branch_of;  // layer of `network` -> op of its branch
  // Tensors that no fill can generate, by name.
  std::map<std::string, std::vector<float>> reals;
  std::map<std::string, std::vector<int32_t>> integers;
};

OpProbe MakeOpProbe(const TypedGraph& graph);

}  // namespace tench
