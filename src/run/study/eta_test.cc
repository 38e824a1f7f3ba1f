// SPDX-License-Identifier: Apache-2.0
#include "run/study/eta.h"

#include <gtest/gtest.h>

namespace tench::eta_test {
namespace {

PlannedCell Planned(const std::string& worker, const std::string& network, int64_t batch = 16) {
  PlannedCell planned;
  planned.cell.values[kAxisWorker] = worker;
  planned.cell.values[kAxisNetwork] = network;
  planned.cell.values[kAxisBatch] = batch;
  planned.id = planned.cell.Id();
  return planned;
}

const std::vector<PlannedCell> kFour = {Planned("fast", "lenet"), Planned("slow", "lenet"),
                                        Planned("fast", "vgg16"), Planned("slow", "vgg16")};

TEST(EtaTest, IsUnknownBeforeTheFirstRun) {
  Eta eta(kFour);
  eta.AddRemaining(0);
  EXPECT_EQ(eta.RemainingNs(), 0);
}

TEST(EtaTest, UsesACellsOwnMeanTime) {
  Eta eta(kFour);
  for (int i = 0; i < 3; ++i) eta.AddRemaining(0);
  eta.Learn(0, 10);
  eta.Learn(0, 20);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 45);
  eta.RemoveRemaining(0);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 30);
}

TEST(EtaTest, ACellThatNeverRanIsEstimatedFromItsWorkerAndItsNetwork) {
  Eta eta(kFour);
  eta.AddRemaining(3);
  eta.Learn(0, 10);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 10) << "nothing similar is known";
  eta.Learn(1, 30);
  eta.Learn(2, 20);
  // The slow worker takes 30, vgg16 takes 20, and all cells take 20 on average.
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 30);
}

TEST(EtaTest, AnotherBatchOfANetworkIsSimilar) {
  Eta eta(std::vector{Planned("a", "lenet"), Planned("a", "vgg16"), Planned("a", "vgg16", 64)});
  eta.AddRemaining(2);
  eta.Learn(0, 10);
  eta.Learn(1, 30);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 30);
}

TEST(EtaTest, PendingParityCountsOnce) {
  Eta eta(kFour);
  for (size_t cell = 0; cell < 4; ++cell) eta.ExpectParity(cell);
  for (const size_t cell : {0, 1, 1, 2}) eta.AddRemaining(cell);
  eta.LearnParity(0, 100);
  eta.RemoveRemaining(0);
  for (size_t cell = 0; cell < 4; ++cell) eta.Learn(cell, 10);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 3 * 10 + 100 + 100);
  eta.LearnParity(1, 60);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 3 * 10 + 80);
  eta.LearnParity(1, 1000);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 3 * 10 + 80) << "it is checked once";
}

TEST(EtaTest, OverheadAndRepeatsAreAdded) {
  Eta eta(kFour);
  for (int i = 0; i < 10; ++i) eta.AddRemaining(0);
  eta.Learn(0, 10);
  eta.LearnOverhead(2);
  eta.LearnOverhead(4);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 10 * 13);
  eta.ExpectRepeats(2);
  EXPECT_DOUBLE_EQ(eta.RemainingNs(), 12 * 13);
}

}  // namespace
}  // namespace tench::eta_test
