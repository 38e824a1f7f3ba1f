// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"

#include <array>

namespace tench {

std::span<const ExitCodeRow> ExitCodes() {
  static constexpr std::array<ExitCodeRow, 6> kRows = {{
      {kExitOk, "Done, and nothing that the command fails on was found."},
      {kExitNegative, "A cell is slower, a change point is confirmed, or a check failed."},
      {kExitBadInput, "Bad input, or an error of the machine. One line on stderr states it."},
      {kExitAmbiguous, "A comparison is ambiguous, and nothing failed or is slower."},
      {kExitFailedRuns, "A run failed: its outcome is not `ok`."},
      {kExitInterrupted, "Stopped by Ctrl-C or SIGTERM."},
  }};
  return kRows;
}

}  // namespace tench
