// SPDX-License-Identifier: Apache-2.0
#pragma once
// The classes of a sample by its scores: the largest, and whether a label is among them. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

struct ScoredClass {
  int64_t index = 0;
  double probability = 0;  // by softmax over all scores
};

// The `count` classes of the largest scores, the largest first; equal scores in the order of their
// indices. NaN counts as the smallest.
std::vector<ScoredClass> TopClasses(std::span<const float> scores, size_t count);

// As Caffe's Accuracy: fewer than top_k other classes have a score that is not below the label's.
bool IsAmongTop(std::span<const float> scores, int64_t label, int64_t top_k);

// The layer whose output the main softmax loss reads: the scores of the classes.
Result<std::string> ScoresLayer(const Graph& graph);

}  // namespace tench
