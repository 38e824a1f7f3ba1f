// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_axes.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "run/session/test_axis.h"

namespace tench {
namespace {

std::string JobText(const Cell& cell) {
  Job job;
  ApplyAxes(cell, job);
  return PrintJson(ToJson(job));
}

TEST(JobAxesTest, EveryAxisIsPartOfTheParityKeyOrSaysWhyNot) {
  ASSERT_EQ(AxisUses().size(), Axes().size());
  for (const AxisUse& use : AxisUses()) {
    const bool key = use.parity == ParityUse::kKey,
               timed = key || use.parity == ParityUse::kTimedKey;
    EXPECT_EQ(std::string(use.reason).empty(), timed) << Axes()[use.axis].name;
    const Cell cell = CellWithout(use.axis), other = CellWithAnother(use.axis);
    EXPECT_EQ(ParitySetting(cell) != ParitySetting(other), key) << Axes()[use.axis].name;
    EXPECT_EQ(TimedSetting(cell) != TimedSetting(other), timed) << Axes()[use.axis].name;
  }
}

TEST(JobAxesTest, EveryAxisThatIsAppliedReachesTheJob) {
  for (const AxisUse& use : AxisUses()) {
    EXPECT_EQ(JobText(CellWithout(use.axis)) != JobText(CellWithAnother(use.axis)),
              use.apply != nullptr)
        << Axes()[use.axis].name;
  }
}

TEST(JobAxesTest, OptionsArePartOfTheJobAndOfTheKey) {
  Cell cell = CellWithout(kAxisBatch), other = cell;
  ASSERT_TRUE(other.Set("option.layout", "nchw"));
  EXPECT_NE(JobText(cell), JobText(other));
  EXPECT_EQ(ParitySetting(cell), "device=cpu precision=f32 tuned=no");
  EXPECT_EQ(ParitySetting(other), "device=cpu precision=f32 tuned=no option.layout=nchw");
}

}  // namespace
}  // namespace tench
