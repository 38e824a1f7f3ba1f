// SPDX-License-Identifier: Apache-2.0
#include "cli/axis_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::axis_flags_test {
namespace {

using testing::HasSubstr;

Result<Cell> Parse(const std::string& line, AxisFlags& flags) {
  CLI::App app;
  flags.AddTo(app);
  app.parse(line);
  return flags.ToCell();
}

TEST(AxisFlagsTest, NamesTheFlagOfARowWithHyphens) {
  EXPECT_EQ(AxisFlagName(Axes()[kAxisWeightDecay]), "--weight-decay");
  EXPECT_EQ(AxisFlagName(Axes()[kAxisBatch]), "--batch");
}

TEST(AxisFlagsTest, SetsWhatIsGivenAndLeavesTheRestAtItsDefault) {
  AxisFlags flags;
  const Result<Cell> cell = Parse("--worker native --batch 32 --weight-decay 0.25", flags);
  ASSERT_TRUE(cell.ok()) << cell.error().message;
  Cell expected;
  ASSERT_TRUE(expected.Set("worker", "native").ok());
  ASSERT_TRUE(expected.Set("batch", "32").ok());
  ASSERT_TRUE(expected.Set("weight_decay", "0.25").ok());
  EXPECT_EQ(cell->Id(), expected.Id());
  EXPECT_EQ(cell->Integer(kAxisBatch), 32);
  EXPECT_TRUE(flags.Given("weight_decay"));
  EXPECT_FALSE(flags.Given("threads"));
}

TEST(AxisFlagsTest, OptionsOfAWorkerMayBeRepeated) {
  AxisFlags flags;
  const Result<Cell> cell = Parse("--option layout=nchw --option mode=a=b", flags);
  ASSERT_TRUE(cell.ok()) << cell.error().message;
  Cell expected;
  ASSERT_TRUE(expected.Set("option.layout", "nchw").ok());
  ASSERT_TRUE(expected.Set("option.mode", "a=b").ok());
  EXPECT_EQ(cell->Id(), expected.Id());
}

TEST(AxisFlagsTest, EnvironmentVariablesMayBeRepeatedAndHoldEqualsSigns) {
  AxisFlags flags;
  const Result<Cell> cell = Parse("--env OMP_WAIT_POLICY=PASSIVE --env FLAGS=a=b", flags);
  ASSERT_TRUE(cell.ok()) << cell.error().message;
  EXPECT_EQ(EnvironmentOf(cell->options),
            (std::map<std::string, std::string>{{"OMP_WAIT_POLICY", "PASSIVE"}, {"FLAGS", "a=b"}}));
  AxisFlags nameless, valueless;
  for (const auto& [line, own] : {std::pair("--env =1", &nameless), {"--env FLAGS", &valueless}})
    EXPECT_THAT(Parse(line, *own).error().message, HasSubstr("NAME=VALUE")) << line;
}

TEST(AxisFlagsTest, RefusesAnOptionWithoutANameAndAValueOutOfBounds) {
  AxisFlags option, batch;
  EXPECT_THAT(Parse("--option =nchw", option).error().message, HasSubstr("NAME=VALUE"));
  EXPECT_THAT(Parse("--batch 0", batch).error().message, HasSubstr("batch: '0'"));
}

TEST(AxisFlagsTest, HelpTellsChoicesAndDefault) {
  AxisFlags flags;
  CLI::App app;
  flags.AddTo(app, "Cell");
  const CLI::Option* option = app.get_option("--precision");
  EXPECT_EQ(option->get_group(), "Cell");
  EXPECT_THAT(option->get_description(), HasSubstr("(f32, bf16, f16) [f32]"));
}

}  // namespace
}  // namespace tench::axis_flags_test
