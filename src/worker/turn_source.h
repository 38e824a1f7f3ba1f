// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slices of a job in turns (Job::turns), as lines on a descriptor. While it waits, the process
// sleeps in poll(2). Not aware of the steps.
//
// Ownership: owns the descriptor. Thread safety: none.

#include <functional>
#include <optional>

#include "base/file.h"
#include "base/stop_token.h"
#include "protocol/channel.h"
#include "protocol/message.h"

namespace tench {

class TurnSource {
 public:
  TurnSource(Fd fd, StopToken stop) : channel_(std::move(fd)), stop_(stop) {}

  // Waits for a line. nullopt at the end of the descriptor, and once a stop is requested.
  Result<std::optional<Turn>> Next();

 private:
  Channel channel_;
  StopToken stop_;
};

// Standard input for a TurnSource. Descriptor 0 becomes /dev/null, so that neither the framework
// nor its child processes read the lines.
Result<Fd> TakeStandardInput();

}  // namespace tench
