// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_axes.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "record/rules.h"
#include "run/session/test_axis.h"

namespace tench::job_axes_test {
namespace {

std::string JobText(const Cell& cell) {
  Job job;
  ApplyAxes(cell, job);
  return PrintJson(ToJson(job)) + PrintJson(Json(job.environment));
}

// A result of older rules is of other trials.
std::string Setting(const std::string& rest) { return fmt::format("rules={} {}", kRules, rest); }

TEST(JobAxesTest, EveryAxisIsPartOfTheParityKeyOrSaysWhyNot) {
  ASSERT_EQ(AxisUses().size(), Axes().size());
  for (const AxisUse& use : AxisUses()) {
    const bool key = use.parity == ParityUse::kKey || use.parity == ParityUse::kLaterKey,
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
  EXPECT_EQ(ParitySetting(cell), Setting("device=cpu precision=f32"));
  EXPECT_EQ(ParitySetting(other), Setting("device=cpu precision=f32 option.layout=nchw"));
}

TEST(JobAxesTest, EnvironmentVariablesArePartOfTheKeyAndNoOptions) {
  Cell cell = CellWithout(kAxisBatch);
  ASSERT_TRUE(cell.Set("env.OMP_WAIT_POLICY", "PASSIVE"));
  EXPECT_EQ(ParitySetting(cell), Setting("device=cpu precision=f32 env.OMP_WAIT_POLICY=PASSIVE"));
  Job job;
  ApplyAxes(cell, job);
  EXPECT_TRUE(job.options.empty());
  EXPECT_EQ(job.environment.at("OMP_WAIT_POLICY"), "PASSIVE");
}

TEST(JobAxesTest, ATunedCellHasTheParityKeyOfTheSettingsThatItExecutes) {
  Cell tuned = CellWithout(kAxisBatch), plain = tuned;
  ASSERT_TRUE(tuned.Set("tuned", "yes"));
  ASSERT_TRUE(plain.Set("option.layout", "nhwc"));
  const Cell executed = WithSettings(tuned, {{"layout", "nhwc"}});
  EXPECT_EQ(ParitySetting(executed), ParitySetting(plain));
  EXPECT_EQ(executed, plain);
}

}  // namespace
}  // namespace tench::job_axes_test
