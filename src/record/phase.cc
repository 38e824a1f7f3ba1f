// SPDX-License-Identifier: Apache-2.0
#include "record/phase.h"

#include <vector>

#include "base/text.h"

namespace tench {
std::span<const std::string> PhaseNames() {
  static const std::vector<std::string> names = {"forward", "gradient", "train"};
  return names;
}

const std::string& Name(Phase phase) { return PhaseNames()[static_cast<size_t>(phase)]; }

Result<Phase> ParsePhase(std::string_view text) {
  return static_cast<Phase>(TENCH_TRY(PositionOf("phase", text, PhaseNames())));
}

}  // namespace tench
