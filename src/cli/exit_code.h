// SPDX-License-Identifier: Apache-2.0
#pragma once
// The exit codes of all commands, in one table. docs/ci.md and the manual page show this table; a
// test compares the document with it. A command documents which of them it returns.

#include <span>
#include <string_view>

namespace tench {

enum ExitCode : int {
  kExitOk = 0,
  kExitNegative = 1,
  kExitBadInput = 2,
  kExitAmbiguous = 3,
  kExitFailedRuns = 4,
  kExitInterrupted = 130,
};

struct ExitCodeRow {
  int code;
  std::string_view meaning;
};

// Ordered by code.
std::span<const ExitCodeRow> ExitCodes();

}  // namespace tench
