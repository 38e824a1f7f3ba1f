// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of optimizers: a type, and the settings of it that no axis has, as in
// "adam,momentum2=0.99,clip_gradients=35". net/solver.h defines the updates. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// The bounds of the settings.
inline constexpr double kMinOptimizerDelta = 1e-30;  // 0 would give 0 / 0 without a gradient
inline constexpr double kMaxGradientClip = 1e30;

struct OptimizerName {
  std::string type = "sgd";
  double momentum2 = 0.999;   // adam only
  double rms_decay = 0.99;    // rmsprop only
  double delta = 1e-8;        // not sgd and nesterov
  double clip_gradients = 0;  // 0: no limit
  bool l1 = false;            // regularization=l1

  bool operator==(const OptimizerName&) const = default;
};

// "sgd", "nesterov", "adam", "rmsprop", "adagrad", "adadelta".
const std::vector<std::string>& OptimizerTypes();

// A setting that the type does not use is an error.
Result<OptimizerName> ParseOptimizer(std::string_view text);
// Without settings at their default. ParseOptimizer(ToString(o)) == o.
std::string ToString(const OptimizerName& optimizer);

}  // namespace tench
