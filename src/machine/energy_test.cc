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

// The names of a Xeon Platinum 9242, whose two packages have two dies each.
TEST_F(EnergyTest, EveryDieIsAZoneOfItsOwn) {
  const std::vector<std::string> names = {"package-0-die-0", "package-0-die-1", "package-1-die-0",
                                          "package-1-die-1"};
  for (size_t i = 0; i < names.size(); ++i)
    Zone(fmt::format("intel-rapl:{}", i), names[i], "1000000");
  Zone("intel-rapl:0:0", "dram", "1000000");
  EnergyMeter meter(powercap_.path());
  EXPECT_EQ(meter.packages(), 4u);
  EXPECT_EQ(meter.Names(), "package-0-die-0 package-0-die-1 package-1-die-0 package-1-die-1");
  for (size_t i = 0; i < names.size(); ++i)
    Zone(fmt::format("intel-rapl:{}", i), names[i], "1500000");
  meter.Poll();
  EXPECT_DOUBLE_EQ(meter.Joules().value(), 2.0);
}

TEST_F(EnergyTest, AMissingValueHasAReasonWithItsRemedy) {
  EXPECT_NE(EnergyMeter(powercap_.path()).Problem().find("no RAPL counters"), std::string::npos);
  Zone("intel-rapl:0", "package-0", "1000000");
  EXPECT_EQ(EnergyMeter(powercap_.path()).Problem(), "");
  powercap_.Remove("intel-rapl:0/energy_uj");
  const EnergyMeter meter(powercap_.path());
  EXPECT_NE(meter.Problem().find("chmod a+r " + powercap_.path().string()), std::string::npos)
      << meter.Problem();
  EXPECT_EQ(meter.Problem().find('\n'), std::string::npos);
}

constexpr int64_t kSecond = 1'000'000'000;

TEST_F(EnergyTest, AWindowHasTheEnergyBetweenItsEnds) {
  Zone("intel-rapl:0", "package-0", "999000000");
  EnergyMeter meter(powercap_.path());
  Zone("intel-rapl:0", "package-0", "999500000");
  EnergyWindow window;
  window.Begin(meter, 10 * kSecond);
  Zone("intel-rapl:0", "package-0", "999900000");
  meter.Poll();
  window.Polled();
  Zone("intel-rapl:0", "package-0", "4500000");  // after a wrap
  const EnergyUse use = window.End(meter, 12 * kSecond, 1.5);
  EXPECT_DOUBLE_EQ(use.joules.value(), 5.0);
  EXPECT_EQ(use.window_ns, 2 * kSecond);
  EXPECT_EQ(use.readings, 3);
  EXPECT_EQ(use.idle_w, 1.5);
  EXPECT_EQ(use.packages, "package-0");
  EXPECT_EQ(use.problem, "");
}

TEST_F(EnergyTest, AShortOrSparseWindowHasNoValue) {
  Zone("intel-rapl:0", "package-0", "1000000");
  EnergyMeter meter(powercap_.path());
  EnergyWindow window;
  EXPECT_EQ(window.End(meter, 0, {}).problem, "the run had no timed steps");
  window.Begin(meter, 0);
  window.Polled();
  const EnergyUse brief = window.End(meter, kSecond - 1, {});
  EXPECT_FALSE(brief.joules);
  EXPECT_NE(brief.problem.find("energy needs at least 1 s"), std::string::npos) << brief.problem;
  window.Begin(meter, 0);
  EXPECT_FALSE(window.End(meter, 5 * kSecond, {}).joules) << "two readings";
}

TEST_F(EnergyTest, WithoutCountersAWindowSaysWhyAndIdlePowerTakesNoTime) {
  EnergyMeter meter(powercap_.path());
  EnergyWindow window;
  window.Begin(meter, 0);
  const EnergyUse use = window.End(meter, 5 * kSecond, {});
  EXPECT_FALSE(use.joules);
  EXPECT_EQ(use.problem, meter.Problem());
  EXPECT_EQ(use.readings, 0);
  EXPECT_FALSE(MeasureIdleWatts(meter, 3600 * kSecond));
}

TEST_F(EnergyTest, IdlePowerIsOfThePackages) {
  Zone("intel-rapl:0", "package-0", "1000000");
  EnergyMeter meter(powercap_.path());
  EXPECT_EQ(MeasureIdleWatts(meter, 1'000'000), 0.0) << "the fixture's counter stands still";
}

}  // namespace
}  // namespace tench::energy_test
