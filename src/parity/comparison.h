// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares a worker's answer with the reference's: the difference and the tolerance of each tensor.
//   - A single op: the norm of the difference is at most 1e-5 of the norm of the reference. Sums of
//     very many terms get their rounding error in addition.
//   - A whole network: at most 10 times the change of the reference under jitter, and never
//   stricter
//     than for a single op.
//   - Parameters after updates: the movement since the start is compared, not the weight, with an
//     allowance for the rounding of the weight.
//   - Tensors with a near-zero norm relative to their group: an absolute floor.
// docs/parity.md has the reasons. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "parity/answer.h"
#include "parity/trial.h"

namespace tench {

struct Deviation {
  std::string what;  // "loss of step 2", "gradients of conv1.weight"
  double difference = 0, allowance = 0;
  double ratio() const;  // difference / tolerance; infinite for NaN
};

// In the order of computation: losses, then tensors.
std::vector<Deviation> Compare(TrialKind kind, const Answer& reference, const Answer& worker);

// Judges kDropout by the raw outputs in `folder`, without a reference. "" = passed; otherwise the
// reason in one line.
std::string JudgeDropout(const Trial& trial, const std::filesystem::path& folder);

}  // namespace tench
