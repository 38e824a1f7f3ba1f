// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outcome of a run and its one-line reason, derived from the way in which its session ended.
// OutcomeOf is pure: literal evidence tests it without a process.

#include <cstdint>
#include <optional>
#include <string>

#include "base/subprocess.h"
#include "record/outcome.h"
#include "run/session/protocol_state.h"
#include "run/session/worker_session.h"

namespace tench {

// What is known when nothing of the worker is left.
struct Evidence {
  const ProtocolState& protocol;
  std::optional<Ending> ending;  // tench ended it
  ExitStatus exit;
  std::optional<std::string> half_line;
  bool lingered = false;
  std::string last_log_line;
  // Why a SIGKILL that tench did not send was the kernel's, for lack of memory.
  std::optional<std::string> killed_for_memory;
  int64_t fixed_steps = 0;  // that the job asked for; 0 = a stop rule
};

// The session must be over; the evidence refers to its protocol state.
Evidence EvidenceOf(const WorkerSession& session, int64_t fixed_steps);

struct RunOutcome {
  Outcome outcome = Outcome::kOk;
  std::string reason;
};

RunOutcome OutcomeOf(const Evidence& evidence);

}  // namespace tench
