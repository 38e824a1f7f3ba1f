// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a ranking for a terminal or a pipe: one aligned table per group, then every failed cell
// with its reason and reproducer command.
//
// Invariants: a narrow terminal drops the less important columns first and never time per image.
// Control characters in stored texts never reach the terminal.
// Thread safety: pure functions.

#include <string>

#include "report/summary.h"

namespace tench {

struct TextOptions {
  size_t width = 0;  // 0 = as wide as needed
  bool colour = false;
};

std::string RenderText(const Ranking& ranking, const TextOptions& options);

}  // namespace tench
