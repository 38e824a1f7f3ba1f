// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a run ended. A failed run is data: it is stored with a reason and a command that reproduces
// it. Passive.

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

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

// In the order of the enum; the spelling used in the CLI, in the protocol and in the store.
std::span<const std::string> OutcomeNames();

const std::string& Name(Outcome outcome);
Result<Outcome> ParseOutcome(std::string_view text);

}  // namespace tench
