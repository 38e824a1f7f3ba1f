// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace tench {

const std::vector<std::string>& RatePolicyNames() {
  static const std::vector<std::string> names = {"fixed",     "step", "exp",    "inv",
                                                 "multistep", "poly", "sigmoid"};
  return names;
}

double LearningRate::At(int64_t iteration) const {
  const double at = static_cast<double>(iteration);
  switch (policy) {
    case RatePolicy::kFixed:
      return base;
    case RatePolicy::kStep:
      return base * std::pow(gamma, static_cast<double>(iteration / step_size));
    case RatePolicy::kExp:
      return base * std::pow(gamma, at);
    case RatePolicy::kInv:
      return base * std::pow(1 + gamma * at, -power);
    case RatePolicy::kMultistep: {
      const auto passed =
          std::upper_bound(step_values.begin(), step_values.end(), iteration) - step_values.begin();
      return base * std::pow(gamma, static_cast<double>(passed));
    }
    case RatePolicy::kPoly:
      return base * std::pow(std::max(0.0, 1 - at / static_cast<double>(max_iterations)), power);
    case RatePolicy::kSigmoid:
      return base / (1 + std::exp(-gamma * (at - static_cast<double>(step_size))));
  }
  return base;
}

std::vector<double> LearningRate::Schedule(int64_t count) const {
  std::vector<double> rates;
  if (policy == RatePolicy::kFixed) return rates;
  rates.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) rates.push_back(At(i));
  // The last rate continues, so trailing repeats are redundant.
  while (rates.size() > 1 && rates[rates.size() - 2] == rates.back()) rates.pop_back();
  return rates;
}

}  // namespace tench
