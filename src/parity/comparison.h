// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares a worker's answer with the reference's: the difference and the tolerance of each tensor.
//   - A single op: the norm of the difference is at most 1e-5 of the norm of the reference. Sums of
//     very many terms get their rounding error in addition. Sampled elements are bounded one by
//     one.
//   - A whole network: at most 10 times the change of the reference under jitter, and never
//   stricter
//     than for a single op.
//   - Parameters after updates: the movement since the start is compared, not the weight, with an
//     allowance for the rounding of the weight.
//   - Tensors that are rounding noise: an absolute floor.
// docs/parity.md has the reasons. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "parity/answer.h"
#include "parity/trial.h"

namespace tench {

struct Deviation {
  std::string what;  // "the loss of step 2", "gradients of conv1.weight"
  double difference = 0, allowance = 0;
  // The norm of the expected tensor, or the usual norm of its group if it is rounding noise.
  double norm = 0;
  std::string key = {};  // "gradients/conv1.weight"; "" for a loss

  double ratio() const;  // difference / tolerance; infinite for NaN
  // Whether a tensor of another value would fail: a tolerance of more than a tenth of the norm
  // accepts too much.
  bool discriminates() const;
};

// In the order of computation: losses, then tensors.
std::vector<Deviation> Compare(TrialKind kind, const Answer& reference, const Answer& worker);

// Compares a timed build with the observing build of the same worker. The tolerance of a tensor
// relative to its norm is the one of the reference's answer to the trial `kind`.
std::vector<Deviation> CompareBuilds(TrialKind kind, const Answer& reference,
                                     const Answer& observed, const Answer& timed);

}  // namespace tench
