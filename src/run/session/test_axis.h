// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests that iterate over the axis table: a cell at its defaults, and one that differs in a
// single axis.

#include <gtest/gtest.h>

#include "axis/cell.h"

namespace tench {

// `axis` at its default value.
inline Cell CellWithout(size_t axis) {
  Cell cell;
  EXPECT_TRUE(cell.Set("worker", "reference"));
  EXPECT_TRUE(cell.Set("network", "lenet"));
  if (axis != kAxisWorker && axis != kAxisNetwork) cell.values[axis] = Axes()[axis].fallback;
  // Without a loader there is nothing to prefetch.
  if (axis == kAxisPrefetch) cell.values[kAxisDataThreads] = int64_t{1};
  return cell;
}

// `axis` at a value that is not its default.
inline Cell CellWithAnother(size_t axis) {
  Cell cell = CellWithout(axis);
  const Axis& row = Axes()[axis];
  if (row.kind == AxisKind::kChoice) {
    for (const std::string& choice : row.choices) {
      if (AxisValue(choice) != row.fallback) cell.values[axis] = choice;
    }
  } else if (row.kind == AxisKind::kInteger) {
    cell.values[axis] = std::get<int64_t>(row.fallback) + 1;
  } else if (row.kind == AxisKind::kReal) {
    cell.values[axis] = std::get<double>(row.fallback) / 2 + 0.125;
  } else {
    cell.values[axis] = std::string(axis == kAxisDevice      ? "gpu"
                                    : axis == kAxisPlacement ? "spread"
                                    : axis == kAxisOptimizer ? "adam"
                                    : axis == kAxisLrPolicy  ? "exp,gamma=0.99"
                                                             : "another");
  }
  return cell;
}

}  // namespace tench
