// SPDX-License-Identifier: Apache-2.0
#include "report/run_energy.h"

#include <gtest/gtest.h>

namespace tench::run_energy_test {
namespace {

RunRecord Measured() {
  RunRecord run;
  EXPECT_TRUE(run.cell.Set("batch", "10"));
  run.summary.steps = 20;
  run.summary.steps_energy_j = 50;
  run.summary.energy_window_ns = 2'000'000'000;
  run.summary.idle_power_w = 5;
  return run;
}

TEST(RunEnergyTest, EnergyIsPerImageOfTheTimedSteps) {
  EXPECT_DOUBLE_EQ(ImageEnergyJ(Measured()).value(), 0.25);
  EXPECT_DOUBLE_EQ(IdleEnergyShare(Measured()).value(), 0.2);
}

TEST(RunEnergyTest, WhatWasNotMeasuredHasNoValue) {
  RunRecord run = Measured();
  run.summary.idle_power_w.reset();
  EXPECT_TRUE(ImageEnergyJ(run));
  EXPECT_FALSE(IdleEnergyShare(run));
  run.summary.steps_energy_j.reset();
  run.summary.cpu_energy_j = 99;  // of the whole run
  EXPECT_FALSE(ImageEnergyJ(run));
  run = Measured();
  run.summary.steps = 0;
  EXPECT_FALSE(ImageEnergyJ(run));
}

TEST(RunEnergyTest, SmallEnergiesAreMillijoules) {
  EXPECT_EQ(EnergyText(0.0123), "12.3 mJ");
  EXPECT_EQ(EnergyText(4.56), "4.56 J");
}

}  // namespace
}  // namespace tench::run_energy_test
