// SPDX-License-Identifier: Apache-2.0
#pragma once
// The computation of one step: inference, gradient, or gradient and update. Passive; shared by
// every layer.

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

enum class Phase {
  kForward,   // inference: running statistics, dropout is the identity, auxiliary heads cut
  kGradient,  // training forward + backward
  kTrain,     // gradient + update
};

// In the order of the enum; the spelling used in the CLI, in suites, in the protocol and in the
// store.
std::span<const std::string> PhaseNames();

const std::string& Name(Phase phase);
Result<Phase> ParsePhase(std::string_view text);

}  // namespace tench
