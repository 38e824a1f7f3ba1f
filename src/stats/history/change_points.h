// SPDX-License-Identifier: Apache-2.0
#pragma once
// Change points of a series of numbers: positions where its level changes. E-divisive (Matteson and
// James 2014, "A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data")
// proposes positions, and Student's t-test accepts them, as in Hunter and Apache Otava (Fleming et
// al. 2023). docs/history.md describes the steps.
//
// A change point i divides the series into [.., i) and [i, ..). Neighbouring change points bound
// its two sides.
// Thread safety: pure functions over literal vectors.

#include <cstddef>
#include <span>
#include <vector>

namespace tench {

struct ChangePointRule {
  double max_p = 0.001;       // of the t-test between the two sides
  double min_change = 0;      // smaller relative changes of the mean are ignored
  size_t window_points = 50;  // longer series are searched in overlapping windows
};

struct ChangePoint {
  size_t index = 0;  // the first point of the new level
  double p = 1;
  double mean_before = 0, mean_after = 0;

  double Ratio() const;   // mean_after over mean_before
  double Change() const;  // the larger of the relative changes forward and backward, at least 0
};

// In order. `series` is finite.
std::vector<ChangePoint> FindChangePoints(std::span<const double> series,
                                          const ChangePointRule& rule = {});

// Whether the change of level rests on a single point: a side has only one point, or the change is
// not significant without one of the points. `begin` and `end` bound the two sides.
bool RestsOnOnePoint(std::span<const double> series, size_t begin, size_t index, size_t end,
                     const ChangePointRule& rule = {});

// The indices of `series` without isolated points: single points between two levels. Such a point
// leaves the change beside it a side of one point, which cannot be told from a spike, or cannot be
// tested at all. The first and the newest point stay.
std::vector<size_t> WithoutIsolatedPoints(std::span<const double> series,
                                          const ChangePointRule& rule = {});

// The energy statistic of Matteson and James for the best division of `series` and of a prefix of
// it: maximal over τ and κ with 0 < τ < κ <= size.
struct Division {
  size_t index = 0;  // τ
  double energy = 0;
};
// `series` has at least two points.
Division BestDivision(std::span<const double> series);

}  // namespace tench
