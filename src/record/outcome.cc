// SPDX-License-Identifier: Apache-2.0
#include "record/outcome.h"

#include <vector>

#include "base/text.h"

namespace tench {

std::span<const std::string> OutcomeNames() {
  static const std::vector<std::string> names = {"ok",       "unsupported",    "wrong",
                                                 "diverged", "out_of_memory",  "timeout",
                                                 "crashed",  "protocol_error", "interrupted"};
  return names;
}

const std::string& Name(Outcome outcome) { return OutcomeNames()[static_cast<size_t>(outcome)]; }

Result<Outcome> ParseOutcome(std::string_view text) {
  return static_cast<Outcome>(TENCH_TRY(PositionOf("outcome", text, OutcomeNames())));
}

}  // namespace tench
