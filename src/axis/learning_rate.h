// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caffe's learning-rate policies as a pure function of the iteration, and their names as values of
// the axis lr_policy: a policy and all its settings, as in "step,gamma=0.1,stepsize=1000". A
// passive struct; not aware of solver files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

enum class RatePolicy { kFixed, kStep, kExp, kInv, kMultistep, kPoly, kSigmoid };

// "fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid", in the order of the enum.
const std::vector<std::string>& RatePolicyNames();

struct LearningRate {
  RatePolicy policy = RatePolicy::kFixed;
  double base = 0.01;
  double gamma = 0, power = 0;
  int64_t step_size = 0;             // step, sigmoid
  std::vector<int64_t> step_values;  // multistep, ascending
  int64_t max_iterations = 0;        // poly

  double At(int64_t iteration) const;
  bool operator==(const LearningRate&) const = default;
  // The rates of the first `count` iterations; empty for the fixed policy. The last rate continues.
  std::vector<double> Schedule(int64_t count) const;
};

// The policy and its settings; the base rate is the axis lr. Every setting of the policy must be
// given, and no other one.
Result<LearningRate> ParseRatePolicy(std::string_view text);
// Without the base rate. A multistep without steps is "fixed". For all other parsed values,
// ParseRatePolicy(RatePolicyText(r)) == r.
std::string RatePolicyText(const LearningRate& rate);

}  // namespace tench
