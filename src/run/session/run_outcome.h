// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run's end means: one outcome, one line of reason, and flags for what is remarkable about
// an `ok`. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "record/outcome.h"
#include "run/session/protocol_state.h"
#include "run/session/worker_session.h"

namespace tench {

// Everything that is known when nothing of the worker is left.
struct Evidence {
  const Conversation& conversation;
  std::optional<Ending> ending;  // tench ended it
  ExitStatus exit;
  std::optional<std::string> half_line;
  bool lingered = false;
  std::string last_log_line;
  std::optional<std::string>
      killed_for_memory;    // the reason why a SIGKILL that tench did not send was the kernel's
  int64_t fixed_steps = 0;  // that the job asked for; 0 = a stop rule
};

struct Verdict {
  Outcome outcome = Outcome::kOk;
  std::string reason;
};

Verdict Judge(const Evidence& evidence);

// The flags of an `ok` or failed run, by what the summary and the conversation show. `reference` is
// verified by definition.
std::vector<std::string> FlagsOf(const RunRecord& record, const Conversation& conversation,
                                 bool swapped, bool unclean_exit, const std::string& worker);

}  // namespace tench
