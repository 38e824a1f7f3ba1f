// SPDX-License-Identifier: Apache-2.0
#include "cli/class_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tench {

std::vector<ScoredClass> TopClasses(std::span<const float> scores, size_t count) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int64_t i) {
    const float value = scores[static_cast<size_t>(i)];
    return std::isnan(value) ? -INFINITY : value;
  };
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](int64_t a, int64_t b) { return score(a) != score(b) ? score(a) > score(b) : a < b; });
  double sum = 0;
  const double largest = order.empty() ? 0 : score(order[0]);
  for (size_t i = 0; i < scores.size(); ++i)
    sum += std::exp(score(static_cast<int64_t>(i)) - largest);
  std::vector<ScoredClass> top;
  for (size_t i = 0; i < count; ++i)
    top.push_back({order[i], std::exp(score(order[i]) - largest) / sum});
  return top;
}

bool IsAmongTop(std::span<const float> scores, int64_t label, int64_t top_k) {
  if (label < 0 || label >= static_cast<int64_t>(scores.size())) return false;
  const float mine = scores[static_cast<size_t>(label)];
  const auto better = std::ranges::count_if(scores, [&](float score) { return score >= mine; });
  // NaN is not at least itself.
  return better > 0 && better - 1 < top_k;
}

Result<std::string> ScoresLayer(const Graph& graph) {
  for (const Layer& layer : graph.layers) {
    const auto* loss = std::get_if<SoftmaxCrossEntropy>(&layer.op);
    if (loss != nullptr && !loss->auxiliary) return layer.inputs[0];
  }
  return Failed("the network '{}' has no class scores: it has no softmax loss", graph.name);
}

}  // namespace tench
