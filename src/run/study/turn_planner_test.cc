// SPDX-License-Identifier: Apache-2.0
#include "run/study/turn_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::turn_planner_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;

PlannedCell CellOf(const std::string& worker, const std::string& device = "cpu") {
  PlannedCell planned;
  EXPECT_TRUE(planned.cell.Set("worker", worker));
  EXPECT_TRUE(planned.cell.Set("device", device));
  return planned;
}

RunSummary PilotOf(double step_ns, int64_t bytes) {
  RunSummary pilot;
  pilot.step_ns_min = step_ns;
  pilot.sampled_peak_rss_bytes = bytes;
  return pilot;
}

TEST(TurnPlannerTest, TheSlicesOfTheSlowestWorkerHaveAboutTheirDuration) {
  EXPECT_EQ(SlicesOfRun(60, 5e6), 6);
  EXPECT_EQ(SlicesOfRun(60, 1e6), kFewestSlices);
  EXPECT_EQ(SlicesOfRun(1000, 10e6), kMostSlices);
  EXPECT_EQ(SlicesOfRun(9, 2e9), 4) << "at least two steps";
  EXPECT_EQ(SlicesOfRun(5, 2e9), 2);
  EXPECT_EQ(SlicesOfRun(1, 2e9), 1);
}

TEST(TurnPlannerTest, AGroupOfWorkersThatPauseAndFitIsMeasuredInTurns) {
  const PlannedCell a = CellOf("a"), b = CellOf("b"), broken = CellOf("broken");
  const std::vector<TurnCandidate> group = {{&a, true, PilotOf(5e6, kGiB)},
                                            {&b, true, PilotOf(1e6, 2 * kGiB)},
                                            {&broken, false, std::nullopt}};
  EXPECT_EQ(PlanTurns(group, 60, 3 * kGiB), (GroupTurns{6, ""}));
  EXPECT_EQ(PlanTurns(group, 60, 0), (GroupTurns{6, ""})) << "unknown memory";
  const GroupTurns tight = PlanTurns(group, 60, 3 * kGiB - 1);
  EXPECT_EQ(tight.slices, 0);
  EXPECT_THAT(tight.reason, HasSubstr("need 3"));
}

TEST(TurnPlannerTest, OtherGroupsAreMeasuredInRoundsForAReason) {
  const PlannedCell a = CellOf("a"), b = CellOf("b"), gpu = CellOf("b", "gpu:0");
  const RunSummary pilot = PilotOf(5e6, 1);
  const auto reason = [](const std::vector<TurnCandidate>& group) {
    const GroupTurns turns = PlanTurns(group, 60, 0);
    EXPECT_EQ(turns.slices, 0);
    return turns.reason;
  };
  EXPECT_EQ(reason({{&a, true, pilot}, {&b, false, pilot}}), "b cannot pause between two steps");
  EXPECT_EQ(reason({{&a, true, pilot}, {&b, true, std::nullopt}}),
            "fewer than two of its workers run");
  EXPECT_EQ(reason({{&gpu, true, pilot}, {&gpu, true, pilot}}), "turns are for CPUs only");
}

}  // namespace
}  // namespace tench::turn_planner_test
