// SPDX-License-Identifier: Apache-2.0
#include "machine/energy.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "machine/fixture_folder.h"

namespace tench::energy_test {
namespace {

class EnergyTest : public testing::Test {
 protected:
  void Zone(const std::string& zone, std::string_view name, std::string_view energy_uj) const {
    powercap_.Write(zone + "/name", std::string(name) + "\n");
    powercap_.Write(zone + "/max_energy_range_uj", "1000000000\n");
    powercap_.Write(zone + "/energy_uj", std::string(energy_uj) + "\n");
  }

  FixtureFolder powercap_;
};

TEST_F(EnergyTest, SumsThePackagesSinceTheStart) {
  Zone("intel-rapl:0", "package-0", "5000000");
  Zone("intel-rapl:1", "package-1", "7000000");
  EnergyMeter meter(powercap_.path());
  EXPECT_EQ(meter.packages(), 2u);
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 0);
  Zone("intel-rapl:0", "package-0", "6500000");
  Zone("intel-rapl:1", "package-1", "7250000");
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 1.75);
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 1.75);
  meter.Start();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 0);
}

TEST_F(EnergyTest, ACounterThatWrapsGoesOn) {
  Zone("intel-rapl:0", "package-0", "999000000");
  EnergyMeter meter(powercap_.path());
  Zone("intel-rapl:0", "package-0", "2000000");
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 3.0);
  Zone("intel-rapl:0", "package-0", "1000000");
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 1002.0);
}

TEST_F(EnergyTest, PartsOfAPackageTheBoardAndASecondWayToThePackageAreNotCounted) {
  Zone("intel-rapl-mmio:0", "package-0", "900000000");
  Zone("intel-rapl:0", "package-0", "1000000");
  Zone("intel-rapl:0:0", "core", "100000");
  Zone("intel-rapl:0:1", "dram", "100000");
  Zone("intel-rapl:1", "psys", "9000000");
  powercap_.Write("intel-rapl/enabled", "1\n");
  EnergyMeter meter(powercap_.path());
  EXPECT_EQ(meter.packages(), 1u);
  Zone("intel-rapl-mmio:0", "package-0", "950000000");
  Zone("intel-rapl:0", "package-0", "3000000");
  Zone("intel-rapl:1", "psys", "99000000");
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 2.0);
}

TEST_F(EnergyTest, WithoutCountersThereIsNoValue) {
  EnergyMeter empty(powercap_.path());
  empty.Poll();
  EXPECT_FALSE(empty.Joules());
  EnergyMeter missing(powercap_.path() / "missing");
  missing.Poll();
  EXPECT_FALSE(missing.Joules());
}

TEST_F(EnergyTest, OnePackageThatMayNotBeReadMakesTheSumUnknown) {
  Zone("intel-rapl:0", "package-0", "1000000");
  Zone("intel-rapl:1", "package-1", "1000000");
  powercap_.Remove("intel-rapl:1/energy_uj");
  EnergyMeter meter(powercap_.path());
  meter.Poll();
  EXPECT_FALSE(meter.Joules());
}

TEST_F(EnergyTest, ACounterThatTurnsUnreadableHasNoValueUntilTheNextStart) {
  Zone("intel-rapl:0", "package-0", "1000000");
  EnergyMeter meter(powercap_.path());
  Zone("intel-rapl:0", "package-0", "");
  meter.Poll();
  EXPECT_FALSE(meter.Joules());
  Zone("intel-rapl:0", "package-0", "2000000");
  meter.Poll();
  EXPECT_FALSE(meter.Joules());
  meter.Start();
  EXPECT_TRUE(meter.Joules());
}

TEST_F(EnergyTest, ACounterThatFallsWithoutAKnownRangeHasNoValue) {
  Zone("intel-rapl:0", "package-0", "5000000");
  powercap_.Remove("intel-rapl:0/max_energy_range_uj");
  EnergyMeter meter(powercap_.path());
  powercap_.Write("intel-rapl:0/energy_uj", "4000000\n");
  meter.Poll();
  EXPECT_FALSE(meter.Joules());
}

}  // namespace
}  // namespace tench::energy_test
