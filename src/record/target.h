// SPDX-License-Identifier: Apache-2.0
#pragma once
// The target of a training: "accuracy >= 0.98" or "loss <= 0.1" on the test split. A plain value.

#include <string>
#include <string_view>

#include "base/error.h"
#include "record/evaluation.h"

namespace tench {

struct Target {
  enum class Metric { kNone, kAccuracy, kLoss };
  Metric metric = Metric::kNone;
  double value = 0;

  bool any() const { return metric != Metric::kNone; }
  bool ReachedBy(const Evaluation& evaluation) const;
  bool operator==(const Target&) const = default;
};

// "" is no target. "98%" is 0.98.
Result<Target> ParseTarget(std::string_view text);
std::string ToString(const Target& target);  // ParseTarget(ToString(t)) == t

}  // namespace tench
