// SPDX-License-Identifier: Apache-2.0
#pragma once
// A comparison for people and for programs: an aligned table with a ratio, its interval and a
// verdict per pair, then in words what is remarkable (rounds far from the others, sides that were
// not measured side by side, cells without a partner); or one JSON object with all of it and every
// round.

#include <string>
#include <vector>

#include "base/json.h"
#include "report/comparison.h"

namespace tench {

struct ComparisonTitles {
  std::string a, b;  // as the user named the sides
};

// What the reader must know before believing the table.
std::vector<std::string> CaveatsOf(const Comparison& comparison);

std::string RenderComparison(const Comparison& comparison, const ComparisonTitles& titles,
                             size_t width = 0);
Json ComparisonToJson(const Comparison& comparison, const ComparisonTitles& titles);

}  // namespace tench
