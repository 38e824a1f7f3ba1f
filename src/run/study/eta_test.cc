// SPDX-License-Identifier: Apache-2.0
#include "run/study/eta.h"

#include <gtest/gtest.h>

namespace tench {
namespace {

TEST(EtaTest, IsUnknownBeforeTheFirstRun) {
  Eta eta(2);
  eta.AddRemaining(0);
  EXPECT_EQ(eta.RemainingNs(), 0);
}

TEST(EtaTest, UsesACellsOwnTimeAndTheMeanForCellsNeverRun) {
  Eta eta(3);
  for (size_t cell : {0, 0, 1, 2}) eta.AddRemaining(cell);
  eta.RemoveRemaining(0);
  eta.Learn(0, 10);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 10 + 10 + 10);
  eta.RemoveRemaining(1);
  eta.Learn(1, 30);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 10 + 20);
  eta.RemoveRemaining(2);
  eta.Learn(2, 100);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 10);
  eta.RemoveRemaining(0);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 0);
}

TEST(EtaTest, AveragesTheRunsOfOneCell) {
  Eta eta(1);
  eta.AddRemaining(0);
  eta.Learn(0, 10);
  eta.Learn(0, 20);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 15);
}

}  // namespace
}  // namespace tench
