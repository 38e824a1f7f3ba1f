// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parameters of one step on the whole test split. Passive; workers measure it, the store keeps
// a run's list as text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

struct Evaluation {
  int64_t step = 0;     // steps before it, including warm-up
  int64_t samples = 0;  // of the test split
  double loss = 0;      // mean cross-entropy; of a network without softmax loss, its mean loss
  std::optional<double> top1, top5;  // shares of correct samples; nullopt = no softmax loss
  int64_t eval_ns = 0;               // wall time of the evaluation, outside of the steps
  // tench adds these; no worker sends them.
  int64_t train_ns = 0;               // steps and exposed input before it
  std::optional<double> epochs = {};  // of the training data before it; nullopt = unknown

  bool operator==(const Evaluation&) const = default;
};

std::string EncodeEvaluations(const std::vector<Evaluation>& evaluations);  // "" for none
Result<std::vector<Evaluation>> DecodeEvaluations(std::string_view text);

}  // namespace tench
