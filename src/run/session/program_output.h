// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program that answers and exits: a worker's --describe, or a question to an interpreter.
// Not aware of the answer's meaning.

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/subprocess.h"
#include "run/session/worker_launch.h"

namespace tench {

struct ProgramOutput {
  std::string text;       // of standard output
  std::string last_line;  // of the log, which is standard error
  ExitStatus exit;
  bool late = false;      // killed at the deadline
  bool too_long = false;  // the rest was not read
};

// Fails only if the program cannot be started.
Result<ProgramOutput> OutputOf(WorkerLaunch launch, int64_t patience_ns, size_t limit_bytes);

}  // namespace tench
