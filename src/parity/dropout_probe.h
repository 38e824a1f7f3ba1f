// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network whose parameters reveal the dropout masks of a build that cannot be observed. For each
// ratio it has two branches, one without the ReLU, for a batch of N samples:
//
//   eye (N×N) → values: FC without bias, weight xᵀ → (ReLU) → dropout y ┬→ reveal: FC, weight 0 →
//   loss
//                                                                       └→ loss
//
// Since `eye` is the identity, the output of `values` is x and its weight gradient is the gradient
// of x, element by element. A quarter of x is negative. The first loss has the gradient of
// `reveal`'s output at the negative identity, so that the update writes y into the weight of
// `reveal`. The second loss has the gradient y + 1 with respect to y, which no mask makes zero.
// After each of two updates the parameters thus hold the output of dropout and the gradient of its
// input. Pure.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "net/graph.h"

namespace tench {

struct Trial;

struct DropoutProbe {
  Graph network;
  std::map<std::string, std::vector<float>> reals;  // to load
  double rate = 0;                                  // of the two updates
};

// The distinct ratios of the network's dropout layers.
std::vector<double> DropoutRatios(const Graph& network);

DropoutProbe MakeDropoutProbe(const std::vector<double>& ratios, int64_t batch);

// Judges the parameters after both updates, FOLDER/STEPS/parameters/NAME.bin: the share of zeros,
// the scale of the others, the backward mask and scale, and that masks differ between steps and
// samples. "" = passed; otherwise the reason in one line.
std::string JudgeDropout(const Trial& trial, const std::filesystem::path& folder);

}  // namespace tench
