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
  EXPECT_TRUE(SettingHolds("device=cpu precision=f32 tuned=no", plain));
  EXPECT_TRUE(SettingHolds("device=cpu batch=64", plain));
  EXPECT_TRUE(SettingHolds("", plain));
  EXPECT_FALSE(SettingHolds("device=gpu:0 precision=f32 tuned=no", plain));
  EXPECT_FALSE(SettingHolds("device=cpu batch=6", plain));
  EXPECT_FALSE(SettingHolds("device=cpu batch=640", plain));
  EXPECT_FALSE(SettingHolds("device=cpu colour=red", plain));
  EXPECT_TRUE(SettingHolds("device=cpu option.layout=nhwc", layout));
  EXPECT_FALSE(SettingHolds("device=cpu option.layout=nhwc", plain));
  EXPECT_FALSE(SettingHolds("device=cpu", layout)) << "it says nothing about the option";
}

TEST(ParityErrorTest, ValuesOfOptionsMayContainBlanks) {
  const Cell cell = CellWith({{"flags", "-O2 device=gpu:0"}});
  EXPECT_TRUE(SettingHolds("device=cpu option.flags=-O2 device=gpu:0", cell));
  EXPECT_FALSE(SettingHolds("device=cpu option.flags=-O2", cell));
}

TEST(ParityErrorTest, ATimedSettingHoldsLikewise) {
  const Cell cell = CellWith({});
  EXPECT_TRUE(SettingHolds("timed batch=64 device=cpu", cell));
  EXPECT_FALSE(SettingHolds("timed batch=32 device=cpu", cell));
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
  const ParityRecord* found = FindParity(parities, cell, "2.15", "b", "f1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->worst, 0.2);
  EXPECT_EQ(FindParity(parities, cell, "2.13", "b", "f1"), nullptr);
  EXPECT_EQ(FindParity({}, cell, "2.15", "b", "f1"), nullptr);
}

}  // namespace
}  // namespace tench::parity_error_test
