// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking as text for a terminal or a pipe: one aligned table per group, then every cell that
// failed with its reason and the command that reproduces it. On a narrow terminal the less
// important columns go first, and time per image stays. Control characters in stored texts never
// reach the terminal.

#include <string>

#include "report/summary.h"

namespace tench {

struct TextOptions {
  size_t width = 0;  // 0 = as wide as needed
  bool colour = false;
};

std::string RenderText(const Ranking& ranking, const TextOptions& options);

}  // namespace tench
