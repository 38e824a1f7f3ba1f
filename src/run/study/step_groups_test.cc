// SPDX-License-Identifier: Apache-2.0
#include "run/study/step_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::step_groups_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlannedCell Planned(const std::string& worker, const std::string& batch, int64_t fixed_steps = 0,
                    int64_t min_steps = 3) {
  PlannedCell planned;
  EXPECT_TRUE(planned.cell.Set("worker", worker).ok());
  EXPECT_TRUE(planned.cell.Set("network", "lenet").ok());
  EXPECT_TRUE(planned.cell.Set("batch", batch).ok());
  planned.id = planned.cell.Id();
  planned.budget.fixed_steps = fixed_steps;
  planned.budget.min_steps = min_steps;
  return planned;
}

TEST(StepGroupsTest, CellsThatDifferInTheWorkerAndItsOptionsAreOneGroup) {
  std::vector<PlannedCell> cells = {Planned("native", "16"), Planned("torch", "16"),
                                    Planned("torch", "16"), Planned("native", "64"),
                                    Planned("torch", "64", 0, 20)};
  cells[2].cell.options["layout"] = "channels_last";
  const std::vector<StepGroup> groups = StepGroups(cells);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].cells, ElementsAre(0, 1, 2));
  EXPECT_EQ(groups[0].least_steps, kFewestSteps);
  EXPECT_FALSE(groups[0].steps.has_value());
  EXPECT_THAT(groups[1].cells, ElementsAre(3, 4));
  EXPECT_EQ(groups[1].least_steps, 20);
  EXPECT_NE(groups[0].name, groups[1].name);
}

TEST(StepGroupsTest, ALoneCellAndTheReferenceHaveNoPlan) {
  EXPECT_THAT(StepGroups(std::vector{Planned("native", "16"), Planned("torch", "64"),
                                     Planned("reference", "16")}),
              IsEmpty());
}

TEST(StepGroupsTest, EqualFixedStepsNeedNoPlanAndUnequalOnesNoPilot) {
  EXPECT_THAT(StepGroups(std::vector{Planned("native", "16", 2), Planned("torch", "16", 2)}),
              IsEmpty());
  const auto unequal =
      StepGroups(std::vector{Planned("native", "16", 40), Planned("torch", "16", 20)});
  ASSERT_EQ(unequal.size(), 1u);
  EXPECT_EQ(unequal[0].steps, 40);
  const auto mixed = StepGroups(std::vector{Planned("native", "16", 2), Planned("torch", "16")});
  ASSERT_EQ(mixed.size(), 1u);
  EXPECT_EQ(mixed[0].steps, kFewestSteps);
}

// Pilots of cells whose steps take `step_ns`; 0 = the cell fails.
class Pilots {
 public:
  Pilots(std::vector<double> step_ns, int64_t steps)
      : step_ns_(std::move(step_ns)), steps_(steps) {}

  std::optional<RunSummary> operator()(size_t cell, const Budget& budget) {
    made.emplace_back(cell, budget.fixed_steps);
    if (step_ns_[cell] == 0) return std::nullopt;
    least = budget.min_steps;
    RunSummary summary;
    summary.step_ns_min = step_ns_[cell];
    summary.steps = budget.fixed_steps > 0 ? budget.fixed_steps : steps_;
    return summary;
  }

  std::vector<std::pair<size_t, int64_t>> made;
  int64_t least = 0;

 private:
  std::vector<double> step_ns_;
  int64_t steps_;
};

TEST(StepGroupsTest, ThePilotOfTheCellWithTheLongestStepsPlansTheSteps) {
  const std::vector<PlannedCell> cells = {Planned("native", "16"), Planned("torch", "16"),
                                          Planned("mxnet", "16"), Planned("caffe", "16")};
  const std::vector<StepGroup> groups = StepGroups(cells);
  ASSERT_EQ(groups.size(), 1u);
  Pilots pilots({5, 70, 20, 0}, 33);
  EXPECT_EQ(PlannedSteps(groups[0], cells, std::ref(pilots)), 33);
  EXPECT_THAT(pilots.made, ElementsAre(std::pair(0, 2), std::pair(1, 2), std::pair(2, 2),
                                       std::pair(3, 2), std::pair(1, 0)));
  EXPECT_EQ(pilots.least, kFewestSteps) << "min_steps: 3 of the suite is too few";
  Pilots few({5, 70, 20, 0}, 4);
  EXPECT_EQ(PlannedSteps(groups[0], cells, std::ref(few)), kFewestSteps);
  Pilots failing({0, 0, 0, 0}, 4);
  EXPECT_EQ(PlannedSteps(groups[0], cells, std::ref(failing)), std::nullopt);
}

TEST(StepGroupsTest, FixedStepsArePlannedWithoutAPilot) {
  const std::vector<PlannedCell> cells = {Planned("native", "16", 40), Planned("torch", "16", 20)};
  Pilots pilots({5, 70}, 33);
  EXPECT_EQ(PlannedSteps(StepGroups(cells)[0], cells, std::ref(pilots)), 40);
  EXPECT_THAT(pilots.made, IsEmpty());
}

}  // namespace
}  // namespace tench::step_groups_test
