// SPDX-License-Identifier: Apache-2.0
#pragma once
// Derives the outcome of a run and its one-line reason from the way in which its session ended.
// OutcomeOf is pure: tests pass literal evidence and need no process.

#include <cstdint>
#include <optional>
#include <string>

#include "base/subprocess.h"
#include "record/outcome.h"
#include "run/session/protocol_state.h"
#include "run/session/worker_session.h"

namespace tench {

// The facts about a worker that has ended.
struct Evidence {
  const ProtocolState& protocol;
  std::optional<Ending> ending;  // set if tench ended it
  ExitStatus exit;
  std::optional<std::string> half_line;
  bool lingered = false;
  std::string last_log_line;
  // The reason to attribute a SIGKILL that tench did not send to the OOM killer.
  std::optional<std::string> killed_for_memory;
  int64_t fixed_steps = 0;  // requested by the job; 0 = a stop rule
  Target until = {};        // that ends the run earlier
};

// The session must be over; the evidence refers to its protocol state.
Evidence EvidenceOf(const WorkerSession& session, const Job& job);

struct RunOutcome {
  Outcome outcome = Outcome::kOk;
  std::string reason;
};

RunOutcome OutcomeOf(const Evidence& evidence);

}  // namespace tench
