// SPDX-License-Identifier: Apache-2.0
#include "axis/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::cell_test {
namespace {

using testing::HasSubstr;

Cell CellOf(const std::vector<std::pair<std::string, std::string>>& settings) {
  Cell cell;
  for (const auto& [name, text] : settings) {
    const Status set = cell.Set(name, text);
    EXPECT_TRUE(set.ok()) << set.error().message;
  }
  return cell;
}

TEST(CellTest, StartsAtTheDefaults) {
  const Cell cell;
  EXPECT_EQ(cell.Text(kAxisDevice), "cpu");
  EXPECT_EQ(cell.Integer(kAxisBatch), 16);
  EXPECT_EQ(cell.Real(kAxisMomentum), 0.9);
  EXPECT_EQ(cell.phase(), Phase::kTrain);
  EXPECT_EQ(cell.Label(), "");
}

TEST(CellTest, LabelShowsWhatIsNotAtItsDefaultThenTheOptions) {
  const Cell cell = CellOf({{"option.layout", "nchw"},
                            {"batch", "64"},
                            {"network", "lenet"},
                            {"worker", "reference"},
                            {"lr", "0.10"},
                            {"phase", "train"}});
  EXPECT_EQ(cell.Label(), "worker=reference network=lenet batch=64 lr=0.1 option.layout=nchw");
  EXPECT_EQ(cell.Flags(),
            "--worker reference --network lenet --batch 64 --lr 0.1 --option layout=nchw");
}

TEST(CellTest, FlagsUseDashesAndSurviveTheShell) {
  const Cell cell =
      CellOf({{"weight_decay", "0.0002"}, {"network", "my net.json"}, {"option.flags", "a b"}});
  EXPECT_EQ(cell.Flags(), "--network 'my net.json' --weight-decay 0.0002 --option 'flags=a b'");
}

TEST(CellTest, EnvironmentVariablesFollowTheOptionsAndAreFlagsOfTheirOwn) {
  const Cell cell =
      CellOf({{"env.TF_XLA_FLAGS", "--a --b"}, {"option.layout", "nchw"}, {"worker", "torch"}});
  EXPECT_EQ(cell.Label(), "worker=torch env.TF_XLA_FLAGS='--a --b' option.layout=nchw");
  EXPECT_EQ(cell.Flags(), "--worker torch --option layout=nchw --env 'TF_XLA_FLAGS=--a --b'");
  EXPECT_EQ(OptionsOf(cell.options), (CellSettings{{"layout", "nchw"}}));
  EXPECT_EQ(EnvironmentOf(cell.options), (CellSettings{{"TF_XLA_FLAGS", "--a --b"}}));
  EXPECT_NE(cell.Id(), CellOf({{"worker", "torch"}, {"option.layout", "nchw"}}).Id());
}

TEST(CellTest, RefusesVariablesThatFollowFromAnAxisAndNamesThatAreNone) {
  Cell cell;
  for (const char* bad :
       {"env.", "env.1A", "env.A-B", "env.OMP_NUM_THREADS", "env.TENCH_CPUS", "option.env.A"})
    EXPECT_FALSE(cell.Set(bad, "1").ok()) << bad;
  EXPECT_THAT(cell.Set("env.OMP_NUM_THREADS", "1").error().message,
              HasSubstr("follows from the axis threads"));
  EXPECT_FALSE(cell.Set("env.A", "a\nb").ok());
  EXPECT_TRUE(cell.options.empty());
}

TEST(CellTest, SettingsCompleteACellButNeverReplaceItsOwn) {
  const Cell cell = CellOf({{"tuned", "yes"}, {"option.layout", "nchw"}});
  const Cell executed = WithSettings(cell, {{"layout", "nhwc"}, {"env.A", "1"}});
  EXPECT_EQ(executed, CellOf({{"option.layout", "nchw"}, {"env.A", "1"}}));
  EXPECT_EQ(SettingsText({{"layout", "nhwc"}, {"plan", std::string(100, 'x')}}),
            "layout=nhwc plan=…");
}

// Stores contain this id: a change would orphan all existing results.
TEST(CellTest, IdIsStable) {
  EXPECT_EQ(CellOf({{"worker", "reference"}, {"network", "lenet"}, {"batch", "64"}}).Id(),
            "4aff24dda3284547");
}

TEST(CellTest, AxesAtTheirDefaultDoNotEnterTheId) {
  const Cell plain = CellOf({{"network", "lenet"}});
  const Cell explicit_default =
      CellOf({{"network", "lenet"}, {"batch", "16"}, {"precision", "f32"}, {"lr", "0.010"}});
  EXPECT_EQ(plain.Id(), explicit_default.Id());
  EXPECT_EQ(plain, explicit_default);
  EXPECT_NE(plain.Id(), CellOf({{"network", "lenet"}, {"batch", "17"}}).Id());
}

TEST(CellTest, NoValueCanPassForAnotherAxis) {
  EXPECT_NE(CellOf({{"network", "lenet batch=2"}}).Id(),
            CellOf({{"network", "lenet"}, {"batch", "2"}}).Id());
  EXPECT_NE(CellOf({{"option.a", "1 option.b=2"}}).Id(),
            CellOf({{"option.a", "1"}, {"option.b", "2"}}).Id());
}

TEST(CellTest, SetRefusesWhatTheAxisRefusesAndKeepsTheOldValue) {
  Cell cell = CellOf({{"batch", "8"}});
  EXPECT_EQ(cell.Set("batch", "0").error().message,
            "batch: '0' is not an integer from 1 to 1048576");
  EXPECT_EQ(cell.Set("batch", "1000000000000").error().message,
            "batch: '1000000000000' is not an integer from 1 to 1048576");
  EXPECT_EQ(cell.Set("bacth", "8").error().message, "unknown axis 'bacth'; did you mean 'batch'?");
  EXPECT_EQ(cell.Integer(kAxisBatch), 8);
}

TEST(CellTest, OptionsNeedAName) {
  Cell cell;
  EXPECT_THAT(cell.Set("option.", "x").error().message, HasSubstr("is not the name of an option"));
  EXPECT_FALSE(cell.Set("option.a b", "x").ok());
  EXPECT_EQ(cell.Set("env.a\nb", "x").error().message.find('\n'), std::string::npos);
  EXPECT_FALSE(cell.Set("option.a", "x\ny").ok());
  EXPECT_TRUE(cell.Set("option.a", "").ok());
  EXPECT_EQ(cell.Label(), "option.a=''");
}

}  // namespace
}  // namespace tench::cell_test
