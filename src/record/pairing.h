// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the workers of a compared group are measured: one process after the other, once per round, or
// resident and in turns (docs/methodology.md).

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tench {

enum class StudyPairing { kRounds, kTurns };

inline const std::vector<std::string>& PairingNames() {
  static const std::vector<std::string> names = {"rounds", "turns"};
  return names;
}

inline const std::string& Name(StudyPairing pairing) {
  return PairingNames()[static_cast<size_t>(pairing)];
}

inline Result<StudyPairing> ParsePairing(std::string_view text) {
  for (const StudyPairing pairing : {StudyPairing::kRounds, StudyPairing::kTurns})
    if (Name(pairing) == text) return pairing;
  return Failed("'{}' is neither rounds nor turns{}", Printable(text, 60),
                Hint(text, PairingNames()));
}

}  // namespace tench
