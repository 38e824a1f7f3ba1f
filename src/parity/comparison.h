// SPDX-License-Identifier: Apache-2.0
#pragma once
// A worker's answer against the reference's: how far apart, and how far apart they may be. The
// rules are the design's:
//   an op alone: the difference's norm within 1e-5 of the reference's, and where a number is a sum
//   of very many terms, within what their rounding does; the whole network: within 10 times what
//   the reference itself changes by when all its results are jittered, and never stricter than an
//   op alone; of parameters after updates, the movement is compared, not the weight, and their own
//   rounding is allowed for; tensors that are next to nothing beside the others of their group: by
//   an absolute floor.
// Pure.

#include <string>
#include <string_view>
#include <vector>

#include "parity/answer.h"
#include "parity/trial.h"

namespace tench {

struct Deviation {
  std::string what;  // "loss of step 2", "gradients of conv1.weight"
  double difference = 0, allowance = 0;
  double ratio() const;  // 1 = just allowed; infinite for NaN
};

// In the order of computation: losses, then tensors.
std::vector<Deviation> Compare(TrialKind kind, const Answer& reference, const Answer& worker);

// kDropout needs no reference: by the raw outputs in `folder`. Empty = as it should be; otherwise
// one line.
std::string JudgeDropout(const Trial& trial, const std::filesystem::path& folder);

}  // namespace tench
