// SPDX-License-Identifier: Apache-2.0
#include "stats/history/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"

namespace tench::change_points_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<size_t> Indices(std::span<const ChangePoint> points) {
  std::vector<size_t> indices;
  for (const ChangePoint& point : points) indices.push_back(point.index);
  return indices;
}

// Levels with a small deterministic wobble.
std::vector<double> Levels(std::initializer_list<std::pair<double, int>> levels) {
  std::vector<double> series;
  for (const auto& [level, count] : levels) {
    for (int i = 0; i < count; ++i)
      series.push_back(level * (1 + 0.004 * static_cast<double>((series.size() * 7) % 5) - 0.008));
  }
  return series;
}

TEST(ChangePointsTest, AgreesWithApacheOtavaOnEveryCase) {
  const std::string text = *ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) /
                                     "src/stats/history/testdata/change_points.json");
  const Json cases = Json::parse(text);
  ASSERT_THAT(cases, SizeIs(testing::Ge(80u)));
  size_t points = 0, different_merges = 0;
  for (const Json& one : cases) {
    const std::string name = one["name"];
    SCOPED_TRACE(name);
    ChangePointRule rule;
    rule.max_p = one["max_p"];
    rule.min_change = one["min_change"];
    rule.window_points = one["window"];
    const auto series = one["series"].get<std::vector<double>>();
    const std::vector<ChangePoint> found = FindChangePoints(series, rule);
    ASSERT_EQ(found.size(), one["points"].size());
    for (size_t i = 0; i < found.size(); ++i, ++points) {
      EXPECT_EQ(found[i].index, one["points"][i]["index"].get<size_t>());
      EXPECT_NEAR(found[i].p, one["points"][i]["p"].get<double>(), 1e-6);
    }
    if (Indices(found) != one["otava"].get<std::vector<size_t>>()) ++different_merges;
  }
  EXPECT_GE(points, 60u);
  EXPECT_EQ(different_merges, 5u) << "docs/history.md states how the merge passes differ";
}

TEST(ChangePointsTest, FindsALevelAndItsMeans) {
  const std::vector<double> series = Levels({{10, 8}, {10.6, 7}});
  const std::vector<ChangePoint> points = FindChangePoints(series);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].index, 8u);
  EXPECT_NEAR(points[0].Ratio(), 1.06, 0.005);
  EXPECT_NEAR(points[0].Change(), 0.06, 0.005);
  EXPECT_LT(points[0].p, 0.001);
}

TEST(ChangePointsTest, IgnoresChangesBelowTheMinimum) {
  const std::vector<double> series = Levels({{10, 12}, {10.2, 12}});
  EXPECT_THAT(Indices(FindChangePoints(series)), ElementsAre(12u));
  EXPECT_THAT(FindChangePoints(series, {.min_change = 0.05}), IsEmpty());
}

TEST(ChangePointsTest, AChangeBelowTheMinimumDoesNotHideALargeOneBesideIt) {
  // The split pass divides before the last two points, so that the large change is at first between
  // two single points.
  const std::vector<double> series = {50, 50.000001, 50, 50.000001, 50, 50.001, 1000};
  EXPECT_THAT(Indices(FindChangePoints(series, {.min_change = 0.01})), ElementsAre(6u));
}

TEST(ChangePointsTest, APointBetweenTwoLevelsIsIsolated) {
  const std::vector<size_t> kept = WithoutIsolatedPoints(Levels({{10, 12}, {12, 1}, {15, 8}}));
  EXPECT_THAT(kept, SizeIs(20u));
  EXPECT_THAT(kept, testing::Not(testing::Contains(12u)));
}

TEST(ChangePointsTest, LevelsAndTheNewestPointAreNotIsolated) {
  for (const auto& series :
       {Levels({{10, 12}, {12, 8}}), Levels({{10, 12}, {12, 2}, {15, 8}}),
        Levels({{10, 12}, {12, 1}}), Levels({{10, 12}, {12, 1}, {10, 1}}), Levels({{10, 30}})}) {
    EXPECT_THAT(WithoutIsolatedPoints(series), SizeIs(series.size()));
  }
  EXPECT_THAT(WithoutIsolatedPoints({}), IsEmpty());
  EXPECT_THAT(WithoutIsolatedPoints(std::vector<double>{1, 9}), SizeIs(2u));
}

TEST(ChangePointsTest, AChangeAtTheSecondNewestPointDoesNotHideOneAtTheNewest) {
  for (const int after : {1, 2, 3}) {
    const std::vector<double> series = Levels({{10, 8}, {11, 1}, {100, after}});
    const std::vector<size_t> kept = WithoutIsolatedPoints(series, {.min_change = 0.01});
    ASSERT_THAT(kept, SizeIs(series.size() - 1)) << after;
    std::vector<double> rest;
    for (const size_t i : kept) rest.push_back(series[i]);
    EXPECT_THAT(Indices(FindChangePoints(rest, {.min_change = 0.01})), ElementsAre(8u)) << after;
  }
}

TEST(ChangePointsTest, FindsChangesInSeveralWindows) {
  const std::vector<double> series = Levels({{10, 70}, {11, 60}, {9, 50}});
  EXPECT_THAT(Indices(FindChangePoints(series)), ElementsAre(70u, 130u));
}

TEST(ChangePointsTest, HasNoneInShortOrConstantSeries) {
  EXPECT_THAT(FindChangePoints({}), IsEmpty());
  EXPECT_THAT(FindChangePoints(std::vector<double>{1}), IsEmpty());
  EXPECT_THAT(FindChangePoints(std::vector<double>{1, 9}), IsEmpty());
  EXPECT_THAT(FindChangePoints(std::vector<double>(40, 2.5)), IsEmpty());
}

TEST(ChangePointsTest, ASpikeRestsOnOnePointAndALevelDoesNot) {
  for (const size_t place : {5u, 12u, 19u, 20u}) {
    std::vector<double> series = Levels({{10, 21}});
    series[place] = 15;
    EXPECT_TRUE(RestsOnOnePoint(series, 0, place, series.size())) << place;
  }
  const std::vector<double> level = Levels({{10, 20}, {15, 2}});
  EXPECT_FALSE(RestsOnOnePoint(level, 0, 20, level.size()));
  EXPECT_TRUE(RestsOnOnePoint(level, 0, 20, 21)) << "only one point of the new level";
  EXPECT_TRUE(RestsOnOnePoint(level, 19, 20, 22)) << "only one point of the old level";
}

TEST(BestDivisionTest, MatchesTheDefinitionOnThreePoints) {
  // τ = 2, κ = 3: 2/3 · (9 + 9) − 2 · 1 / (3 · 1) · 0 = 12, the largest of the three.
  const Division division = BestDivision(std::vector<double>{1, 1, 10});
  EXPECT_EQ(division.index, 2u);
  EXPECT_DOUBLE_EQ(division.energy, 12);
}

}  // namespace
}  // namespace tench::change_points_test
