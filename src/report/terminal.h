// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a ranking for a terminal, a pipe or a Markdown document: one aligned table per group,
// then every failed cell with its reason and reproducer command.
//
// Invariants: a narrow terminal drops the less important columns first and never time per image;
// a line names the omitted columns. Only reproducer commands exceed the width, for copying.
// Control characters in stored texts never reach the terminal.
// Thread safety: pure functions.

#include <string>

#include "report/summary.h"

namespace tench {

struct TextOptions {
  size_t width = 0;  // 0 = as wide as needed
  bool colour = false;
  bool markdown = false;  // headings, lists and tables in GitHub's Markdown
};

std::string RenderText(const Ranking& ranking, const TextOptions& options);

}  // namespace tench
