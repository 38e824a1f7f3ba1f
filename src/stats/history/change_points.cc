// SPDX-License-Identifier: Apache-2.0
// Two passes. The split pass runs E-divisive in windows: it divides the window at the position of
// the largest energy statistic as long as the t-test accepts the division, at ten times the wanted
// significance level. The merge pass tests the union of these positions on the whole series and
// removes the weakest one until all are significant and large enough. A window makes a change near
// its end detectable that a long series would dilute; the merge pass removes what only one window
// showed.
#include "stats/history/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "stats/stats.h"

namespace tench {
namespace {

struct Moments {
  double count = 0, mean = 0, squares = 0;  // squares: sum of squared deviations from the mean
};

Moments MomentsOf(std::span<const double> values) {
  Moments moments{static_cast<double>(values.size()), 0, 0};
  for (const double value : values) moments.mean += value / moments.count;
  for (const double value : values)
    moments.squares += (value - moments.mean) * (value - moments.mean);
  return moments;
}

Moments Without(const Moments& all, double value) {
  Moments rest{all.count - 1, 0, 0};
  rest.mean = (all.mean * all.count - value) / rest.count;
  rest.squares = std::max(0.0, all.squares - (value - all.mean) * (value - rest.mean));
  return rest;
}

// Two-sided p-value of Student's t-test with pooled variance. Like Otava, it divides each side's
// squares by its count instead of count - 1.
double TestLevels(const Moments& a, const Moments& b) {
  const double freedom = a.count + b.count - 2;
  if (freedom < 1) return 1;
  const double difference = std::abs(a.mean - b.mean);
  if (difference == 0) return 1;
  const auto part = [](const Moments& side) {
    return side.squares / side.count * (side.count - 1);
  };
  const double variance = (part(a) + part(b)) / freedom;
  if (variance <= 0) return 0;
  const double t = difference / std::sqrt(variance * (1 / a.count + 1 / b.count));
  return StudentTail(t, static_cast<int64_t>(freedom));
}

ChangePoint Tested(std::span<const double> series, size_t begin, size_t index, size_t end) {
  const Moments before = MomentsOf(series.subspan(begin, index - begin));
  const Moments after = MomentsOf(series.subspan(index, end - index));
  return {index, TestLevels(before, after), before.mean, after.mean};
}

// The significance level of the split pass.
double FirstPass(double max_p) {
  return max_p < 0.05 ? max_p * 10 : max_p < 0.5 ? max_p * 2 : max_p;
}

// E-divisive on one window: positions relative to its begin, in order.
std::vector<size_t> Divide(std::span<const double> window, double max_p) {
  std::vector<size_t> cuts;
  for (;;) {
    Division best;
    size_t best_begin = 0, best_end = 0;
    for (size_t i = 0; i <= cuts.size(); ++i) {
      const size_t begin = i == 0 ? 0 : cuts[i - 1];
      const size_t end = i == cuts.size() ? window.size() : cuts[i];
      if (end - begin < 2) continue;
      const Division division = BestDivision(window.subspan(begin, end - begin));
      if (best_end != 0 && division.energy <= best.energy) continue;
      best = {begin + division.index, division.energy};
      best_begin = begin, best_end = end;
    }
    if (best_end == 0 || Tested(window, best_begin, best.index, best_end).p > max_p) return cuts;
    cuts.insert(std::lower_bound(cuts.begin(), cuts.end(), best.index), best.index);
  }
}

std::vector<size_t> Split(std::span<const double> series, const ChangePointRule& rule) {
  const size_t length = std::max<size_t>(rule.window_points, 2), step = length / 2;
  std::vector<size_t> found;
  for (size_t begin = 0; begin < series.size();) {
    const size_t end = std::min(begin + length, series.size());
    const std::vector<size_t> cuts =
        Divide(series.subspan(begin, end - begin), FirstPass(rule.max_p));
    for (const size_t cut : cuts) found.push_back(begin + cut);
    begin = std::max(cuts.empty() ? 0 : begin + cuts.back(), begin + step);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// The point at `position`, tested between its neighbours.
ChangePoint Retested(std::span<const double> series, std::span<const ChangePoint> points,
                     size_t position) {
  return Tested(series, position == 0 ? 0 : points[position - 1].index, points[position].index,
                position + 1 == points.size() ? series.size() : points[position + 1].index);
}

// The point to remove next; points.size() if all are good. A change within the margin beside an
// insignificant one goes first: it shortens the sides of its neighbour, and two single points leave
// the t-test no degree of freedom.
size_t Weakest(std::span<const ChangePoint> points, const ChangePointRule& rule) {
  const auto ignored = [&](size_t i) {
    return i < points.size() && points[i].Change() <= rule.min_change;
  };
  const auto by_p =
      static_cast<size_t>(std::max_element(points.begin(), points.end(),
                                           [](const auto& a, const auto& b) { return a.p < b.p; }) -
                          points.begin());
  if (points[by_p].p >= rule.max_p) {
    if (points[by_p].p < 1 || ignored(by_p)) return by_p;
    return by_p > 0 && ignored(by_p - 1) ? by_p - 1 : ignored(by_p + 1) ? by_p + 1 : by_p;
  }
  const auto by_change = static_cast<size_t>(
      std::min_element(points.begin(), points.end(),
                       [](const auto& a, const auto& b) { return a.Change() < b.Change(); }) -
      points.begin());
  return ignored(by_change) ? by_change : points.size();
}

}  // namespace

double ChangePoint::Ratio() const {
  return mean_before != 0 ? mean_after / mean_before : std::numeric_limits<double>::infinity();
}

double ChangePoint::Change() const {
  if (mean_before == 0 || mean_after == 0) return mean_before == mean_after ? 0 : 1;
  return std::max(std::abs(mean_after / mean_before - 1), std::abs(mean_before / mean_after - 1));
}

Division BestDivision(std::span<const double> series) {
  const size_t size = series.size();
  Check(size >= 2, "a division needs two points");
  const auto distance = [&](size_t i, size_t k) { return std::abs(series[i] - series[k]); };
  // prefix[k][t] is the sum of the distances of point k to the points before t.
  std::vector<std::vector<double>> prefix(size, std::vector<double>(size + 1, 0));
  for (size_t k = 0; k < size; ++k) {
    for (size_t t = 0; t < size; ++t) prefix[k][t + 1] = prefix[k][t] + distance(t, k);
  }
  Division best;
  double within_x = 0;
  for (size_t tau = 1; tau < size; ++tau) {
    within_x += prefix[tau - 1][tau - 1];
    double within_y = 0, between = 0;
    for (size_t kappa = tau + 1; kappa <= size; ++kappa) {
      const size_t last = kappa - 1;
      between += prefix[last][tau];
      within_y += prefix[last][last] - prefix[last][tau];
      const auto n = static_cast<double>(tau), m = static_cast<double>(kappa - tau);
      double energy = 2 / (n + m) * between;
      if (n > 1) energy -= 2 * m / ((n + m) * (n - 1)) * within_x;
      if (m > 1) energy -= 2 * n / ((n + m) * (m - 1)) * within_y;
      if (best.index == 0 || energy > best.energy) best = {tau, energy};
    }
  }
  return best;
}

std::vector<ChangePoint> FindChangePoints(std::span<const double> series,
                                          const ChangePointRule& rule) {
  std::vector<ChangePoint> points;
  for (const size_t index : Split(series, rule)) points.push_back({index});
  for (size_t i = 0; i < points.size(); ++i) points[i] = Retested(series, points, i);
  while (!points.empty()) {
    const size_t weakest = Weakest(points, rule);
    if (weakest == points.size()) break;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(weakest));
    // Both neighbours have a longer side now.
    if (weakest > 0) points[weakest - 1] = Retested(series, points, weakest - 1);
    if (weakest < points.size()) points[weakest] = Retested(series, points, weakest);
  }
  return points;
}

namespace {

// How many of the newest points may leave each other untestable.
constexpr size_t kNewestPoints = 4;

bool HasChangeAfter(std::span<const ChangePoint> points, size_t index) {
  return !points.empty() && points.back().index >= index;
}

// The position of an isolated point; series.size() if there is none.
size_t IsolatedPoint(std::span<const double> series, const ChangePointRule& rule) {
  const std::vector<ChangePoint> points = FindChangePoints(series, rule);
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].index - points[i - 1].index == 1) return points[i - 1].index;
  }
  // Near the end the merge pass may have removed both changes. The point differs from the level
  // before it, and so do the points after it, if either is looked at without the other.
  for (size_t k = series.size() - 1;
       k-- > std::max<size_t>(2, series.size() - std::min(series.size(), kNewestPoints));) {
    if (HasChangeAfter(points, k)) return series.size();
    const std::vector<ChangePoint> until = FindChangePoints(series.first(k + 1), rule);
    if (!HasChangeAfter(until, k)) continue;
    std::vector<double> rest(series.begin(), series.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
    if (HasChangeAfter(FindChangePoints(rest, rule), k)) return k;
  }
  return series.size();
}

}  // namespace

std::vector<size_t> WithoutIsolatedPoints(std::span<const double> series,
                                          const ChangePointRule& rule) {
  std::vector<size_t> kept(series.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  std::vector<double> rest(series.begin(), series.end());
  while (rest.size() > 3) {
    const size_t isolated = IsolatedPoint(rest, rule);
    if (isolated == rest.size()) break;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(isolated));
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(isolated));
  }
  return kept;
}

bool RestsOnOnePoint(std::span<const double> series, size_t begin, size_t index, size_t end,
                     const ChangePointRule& rule) {
  if (index - begin < 2 || end - index < 2) return true;
  const std::span<const double> left = series.subspan(begin, index - begin),
                                right = series.subspan(index, end - index);
  const Moments before = MomentsOf(left), after = MomentsOf(right);
  const auto holds = [&](const Moments& a, const Moments& b) {
    const ChangePoint without{index, TestLevels(a, b), a.mean, b.mean};
    return without.p <= FirstPass(rule.max_p) && without.Change() > rule.min_change;
  };
  return std::any_of(left.begin(), left.end(),
                     [&](double value) { return !holds(Without(before, value), after); }) ||
         std::any_of(right.begin(), right.end(),
                     [&](double value) { return !holds(before, Without(after, value)); });
}

}  // namespace tench
