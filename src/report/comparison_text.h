// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a comparison. RenderComparison gives an aligned table with ratio, interval and verdict
// per pair, followed by caveats: outlier rounds, sides that were not interleaved, cells without a
// partner. ComparisonToJson gives one JSON object with all of it and every round.
// Thread safety: pure functions.

#include <string>
#include <vector>

#include "base/json.h"
#include "report/comparison.h"

namespace tench {

struct ComparisonTitles {
  std::string a, b;  // the sides as the user wrote them
};

// Caveats that limit the table's validity, one line each.
std::vector<std::string> CaveatsOf(const Comparison& comparison);

// "native 0.1.0+1a2b3c4: lenet on mnist, batch 64, train": what both cells of a pair share.
std::string PairTitle(const Comparison& comparison, const CellPair& pair);

std::string RenderComparison(const Comparison& comparison, const ComparisonTitles& titles,
                             size_t width = 0);
Json ComparisonToJson(const Comparison& comparison, const ComparisonTitles& titles);

}  // namespace tench
