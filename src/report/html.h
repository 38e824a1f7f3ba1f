// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking as one HTML file that needs nothing else: no network, no script. The machine's facts, a table with bars per
// group, failed cells with reasons and reproducers, and what the clock covers. Light or dark as the reader's system
// asks. All stored text is escaped.

#include <string>
#include <string_view>

#include "report/summary.h"

namespace tench {

struct HtmlOptions {
  std::string title = "tench results";
  std::string made_utc;  // shown below the title unless empty
};

std::string RenderHtml(const Ranking& ranking, const HtmlOptions& options);

std::string HtmlText(std::string_view text);

}  // namespace tench
