// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words that run through everything: what one step does, and how a run can end.

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

enum class Outcome {
  kOk,
  kUnsupported,
  kWrong,
  kDiverged,
  kOutOfMemory,
  kTimeout,
  kCrashed,
  kProtocolError,
  kInterrupted,
};

// In the order of the enum; the spelling used in the CLI, in suites, in the protocol and in the
// store.
std::span<const std::string> PhaseNames();
std::span<const std::string> OutcomeNames();

const std::string& Name(Phase phase);
const std::string& Name(Outcome outcome);
Result<Phase> ParsePhase(std::string_view text);
Result<Outcome> ParseOutcome(std::string_view text);

}  // namespace tench
