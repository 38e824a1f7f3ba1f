// SPDX-License-Identifier: Apache-2.0
#include "axis/phase.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace tench {
namespace {

Result<size_t> Position(std::string_view what, std::string_view text,
                        std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return Failed("unknown {} '{}' (one of {}){}", what, Printable(text, 60), Join(names, ", "),
                Hint(text, names));
}

}  // namespace

std::span<const std::string> PhaseNames() {
  static const std::vector<std::string> names = {"forward", "gradient", "train"};
  return names;
}

std::span<const std::string> OutcomeNames() {
  static const std::vector<std::string> names = {"ok",       "unsupported",    "wrong",
                                                 "diverged", "out_of_memory",  "timeout",
                                                 "crashed",  "protocol_error", "interrupted"};
  return names;
}

const std::string& Name(Phase phase) { return PhaseNames()[static_cast<size_t>(phase)]; }
const std::string& Name(Outcome outcome) { return OutcomeNames()[static_cast<size_t>(outcome)]; }

Result<Phase> ParsePhase(std::string_view text) {
  return static_cast<Phase>(TENCH_TRY(Position("phase", text, PhaseNames())));
}

Result<Outcome> ParseOutcome(std::string_view text) {
  return static_cast<Outcome>(TENCH_TRY(Position("outcome", text, OutcomeNames())));
}

}  // namespace tench
