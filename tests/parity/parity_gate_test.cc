// SPDX-License-Identifier: Apache-2.0
#include "run/verify/parity_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "record/rules.h"

namespace tench::parity_gate_test {
namespace {

class ParityGateTest : public testing::Test {
 protected:
  static PlannedCell CellOf(const std::string& worker, const std::string& fault) {
    PlannedCell planned;
    EXPECT_TRUE(planned.cell.Set("worker", worker).ok() &&
                planned.cell.Set("network", "lenet").ok());
    if (!fault.empty()) planned.cell.options["fault"] = fault;
    planned.id = planned.cell.Id();
    return planned;
  }
  ParityGate::Finding Check(const PlannedCell& cell) {
    trials_ = 0;
    return ParityGate(store_, catalog_, {}, StopToken()).Check(cell, [this](const std::string&) {
      ++trials_;
    });
  }

  int trials_ = 0;
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-gate-");
  Store store_ = *Store::Open(folder_.path() / "results.db", Store::Mode::kReadWrite);
  WorkerCatalog catalog_ = WorkerCatalog::Discover({TENCH_WRONG_DIR, TENCH_BIN_DIR});
};

TEST_F(ParityGateTest, StopsAWrongWorkerAndNamesTheLayer) {
  const ParityGate::Finding finding = Check(CellOf("wrong", "flipped_filter"));
  EXPECT_EQ(finding.state, ParityGate::State::kWrong);
  EXPECT_THAT(finding.reason, testing::HasSubstr("conv1"));
}

TEST_F(ParityGateTest, FindsOutOncePerStore) {
  EXPECT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  EXPECT_GT(trials_, 0);
  EXPECT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  EXPECT_EQ(trials_, 0);
}

TEST_F(ParityGateTest, FindsOutOncePerBatchForTheTimedBuild) {
  PlannedCell cell = CellOf("wrong", "none");
  EXPECT_EQ(Check(cell).state, ParityGate::State::kVerified);
  const int all = trials_;
  ASSERT_TRUE(cell.cell.Set("batch", "3").ok());
  EXPECT_EQ(Check(cell).state, ParityGate::State::kVerified);
  EXPECT_GT(trials_, 0);
  EXPECT_LT(trials_, all);
  EXPECT_EQ(Check(cell).state, ParityGate::State::kVerified);
  EXPECT_EQ(trials_, 0);
}

TEST_F(ParityGateTest, StopsAWorkerWhoseTimedBuildDiffers) {
  const ParityGate::Finding finding = Check(CellOf("wrong", "timed_decay"));
  EXPECT_EQ(finding.state, ParityGate::State::kWrong);
  EXPECT_THAT(finding.reason, testing::HasSubstr("timed: "));
}

TEST_F(ParityGateTest, LeavesACellUnverifiedWhoseObservingBuildDoesNotFitIntoMemory) {
  PlannedCell cell = CellOf("wrong", "observed_memory");
  ASSERT_TRUE(cell.cell.Set("batch", "8").ok());
  const ParityGate::Finding finding = Check(cell);
  EXPECT_EQ(finding.state, ParityGate::State::kUnknown);
  EXPECT_THAT(finding.reason, testing::StartsWith("the observing build at batch 8: "));
  EXPECT_THAT(finding.reason, testing::HasSubstr("out of memory"));
  // Another day may have more memory.
  Check(cell);
  EXPECT_GT(trials_, 0);
  ASSERT_TRUE(cell.cell.Set("batch", "3").ok());
  EXPECT_EQ(Check(cell).state, ParityGate::State::kVerified);
}

TEST_F(ParityGateTest, ReusesNoResultOfOtherRules) {
  ASSERT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  const std::vector<ParityRecord> here = *store_.Parities();
  store_ = *Store::Open(folder_.path() / "older.db", Store::Mode::kReadWrite);
  for (ParityRecord older : here) {
    const std::string rules = fmt::format("rules={}", kRules);
    const size_t at = older.key.setting.find(rules);
    ASSERT_NE(at, std::string::npos) << older.key.setting;
    older.key.setting.replace(at, rules.size(), fmt::format("rules={}", kRules - 1));
    ASSERT_TRUE(store_.SetParity(older).ok());
  }
  EXPECT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  EXPECT_GT(trials_, 0);
}

// A merged file holds the results of other machines for the same worker and network.
TEST_F(ParityGateTest, ReusesNoResultOfAnotherCpuModelInstructionSetOrBuild) {
  ASSERT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  const ParityRecord here = store_.Parities()->at(0);
  store_ = *Store::Open(folder_.path() / "merged.db", Store::Mode::kReadWrite);
  for (const auto part : {&ParityKey::cpu_model, &ParityKey::isa, &ParityKey::build}) {
    EXPECT_FALSE((here.key.*part).empty());
    ParityRecord elsewhere = here;
    elsewhere.key.*part = "another";
    elsewhere.outcome = Outcome::kWrong;
    ASSERT_TRUE(store_.SetParity(elsewhere).ok());
  }
  EXPECT_EQ(Check(CellOf("wrong", "none")).state, ParityGate::State::kVerified);
  EXPECT_GT(trials_, 0) << "this machine must find out by itself";
}

TEST_F(ParityGateTest, TakesTheReferenceForGranted) {
  EXPECT_EQ(Check(CellOf("reference", "")).state, ParityGate::State::kVerified);
  EXPECT_EQ(trials_, 0);
}

TEST_F(ParityGateTest, HoldsEachVersionOfAWorkerAgainstTheReference) {
  const ParityGate::Finding usual = Check(CellOf("wrong", ""));
  EXPECT_EQ(usual.state, ParityGate::State::kVerified) << usual.reason;
  const ParityGate::Finding other = Check(CellOf("wrong@9", ""));
  EXPECT_EQ(other.state, ParityGate::State::kWrong) << other.reason;
  EXPECT_EQ(other.worker_version, "9.0");
  EXPECT_NE(usual.worker_version, other.worker_version);
  EXPECT_GT(trials_, 0);
  // Each result is stored under its version.
  EXPECT_EQ(Check(CellOf("wrong@9.0", "")).state, ParityGate::State::kWrong);
  EXPECT_EQ(Check(CellOf("wrong@" + usual.worker_version, "")).state, ParityGate::State::kVerified);
  EXPECT_EQ(trials_, 0);
}

TEST_F(ParityGateTest, CannotTellOfAVersionThatIsNotThere) {
  const ParityGate::Finding finding = Check(CellOf("wrong@99.9", "none"));
  EXPECT_EQ(finding.state, ParityGate::State::kUnknown);
  EXPECT_THAT(finding.reason, testing::HasSubstr("version 99.9 was asked for"));
  EXPECT_EQ(trials_, 0);
}

TEST_F(ParityGateTest, CannotTellOfAnotherPrecision) {
  PlannedCell cell = CellOf("wrong", "none");
  ASSERT_TRUE(cell.cell.Set("precision", "bf16").ok());
  EXPECT_EQ(Check(cell).state, ParityGate::State::kUnknown);
}

}  // namespace
}  // namespace tench::parity_gate_test
