// SPDX-License-Identifier: Apache-2.0
#include "report/parity_error.h"

#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench::parity_error_test {
namespace {

Cell CellWith(const std::map<std::string, std::string>& options) {
  Cell cell = TestCell("torch@2.15");
  cell.options = options;
  return cell;
}

TEST(ParityErrorTest, ASettingHoldsForACellWithTheSameValues) {
  const Cell plain = CellWith({}), layout = CellWith({{"layout", "nhwc"}});
  EXPECT_TRUE(SettingHolds("device=cpu precision=f32 tuned=no", plain, 3));
  EXPECT_TRUE(SettingHolds("device=cpu batch=64", plain, 3));
  EXPECT_TRUE(SettingHolds("", plain, 3));
  EXPECT_FALSE(SettingHolds("device=gpu:0 precision=f32 tuned=no", plain, 3));
  EXPECT_FALSE(SettingHolds("device=cpu batch=6", plain, 3));
  EXPECT_FALSE(SettingHolds("device=cpu batch=640", plain, 3));
  EXPECT_FALSE(SettingHolds("device=cpu colour=red", plain, 3));
  EXPECT_TRUE(SettingHolds("device=cpu option.layout=nhwc", layout, 3));
  EXPECT_FALSE(SettingHolds("device=cpu option.layout=nhwc", plain, 3));
  EXPECT_FALSE(SettingHolds("device=cpu", layout, 3)) << "it says nothing about the option";
}

TEST(ParityErrorTest, ValuesOfOptionsMayContainBlanks) {
  const Cell cell = CellWith({{"flags", "-O2 device=gpu:0"}});
  EXPECT_TRUE(SettingHolds("device=cpu option.flags=-O2 device=gpu:0", cell, 3));
  EXPECT_FALSE(SettingHolds("device=cpu option.flags=-O2", cell, 3));
}

TEST(ParityErrorTest, ATimedSettingHoldsLikewise) {
  const Cell cell = CellWith({});
  EXPECT_TRUE(SettingHolds("timed batch=64 device=cpu", cell, 3));
  EXPECT_FALSE(SettingHolds("timed batch=32 device=cpu", cell, 3));
}

TEST(ParityErrorTest, AResultOfOtherRulesIsNotTheRows) {
  const Cell cell = CellWith({});
  EXPECT_TRUE(SettingHolds("rules=4 device=cpu", cell, 4));
  EXPECT_TRUE(SettingHolds("timed batch=64 rules=4 device=cpu", cell, 4));
  EXPECT_FALSE(SettingHolds("rules=4 device=cpu", cell, 3));
  EXPECT_FALSE(SettingHolds("rules=4 device=cpu", cell, 40));
  EXPECT_TRUE(SettingHolds("device=cpu", cell, 3)) << "older results do not name their rules";
  EXPECT_FALSE(SettingHolds("device=cpu", cell, 4));
}

TEST(ParityErrorTest, FindsTheLargerErrorOfTheRowsBuild) {
  const Cell cell = CellWith({});
  const auto record = [](const std::string& version, const std::string& build,
                         const std::string& fingerprint, const std::string& setting, double worst) {
    ParityRecord parity;
    parity.key = {"torch", version, build, "cpu", "avx2", fingerprint, setting};
    parity.worst = worst;
    return parity;
  };
  const std::vector<ParityRecord> parities = {record("2.15", "b", "f1", "device=cpu", 0.1),
                                              record("2.15", "b", "f1", "timed batch=64", 0.2),
                                              record("2.15", "b", "f1", "timed batch=32", 0.3),
                                              record("2.15", "c", "f1", "device=cpu", 0.4),
                                              record("2.14", "b", "f1", "device=cpu", 0.5),
                                              record("2.15", "b", "f2", "device=cpu", 0.6)};
  const ParityRecord* found = FindParity(parities, cell, "2.15", "b", "f1", 3);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->worst, 0.2);
  EXPECT_EQ(FindParity(parities, cell, "2.13", "b", "f1", 3), nullptr);
  EXPECT_EQ(FindParity({}, cell, "2.15", "b", "f1", 3), nullptr);
}

}  // namespace
}  // namespace tench::parity_error_test
