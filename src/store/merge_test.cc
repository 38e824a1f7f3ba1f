// SPDX-License-Identifier: Apache-2.0
#include "store/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "store/test_run.h"

namespace tench::merge_test {
namespace {

class MergeTest : public testing::Test {
 protected:
  Store Open(const std::string& name) {
    return *Store::Open(folder_.path() / name, Store::Mode::kReadWrite);
  }

  // A store with one study of two rounds and one single run, all on `machine`.
  Store Filled(const std::string& machine, uint64_t seed) {
    Store store = Open(machine + ".db");
    StudyRecord study = TestStudy();
    study.machine = machine;
    study.machine_id = machine + "-id";
    study.seed = seed;
    const int64_t id = *store.AddStudy(study);
    for (const int64_t round : {0, 1})
      EXPECT_TRUE(store.AddRun(Of(machine, id, round), TestSeries()).ok());
    EXPECT_TRUE(store.AddRun(Of(machine, 0, 0), TestSeries()).ok());
    return store;
  }

  static RunRecord Of(const std::string& machine, int64_t study, int64_t round) {
    RunRecord run = TestRun(study, round);
    run.machine = machine;
    run.machine_id = machine + "-id";
    return run;
  }

  static std::vector<RunRecord> Runs(Store& store) {
    std::vector<RunRecord> runs;
    EXPECT_TRUE(store.ForEachRun({}, [&](const RunRecord& run) {
      runs.push_back(run);
      return true;
    }));
    return runs;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-merge-");
};

TEST_F(MergeTest, StoresOfTwoMachinesBecomeOneWithAllThatTheyHeld) {
  Store pond = Filled("pond", 1), lake = Filled("lake", 2), all = Open("all.db");
  MergeCounts counts = *MergeStore(all, pond);
  counts += *MergeStore(all, lake);
  EXPECT_EQ(counts.studies, 2);
  EXPECT_EQ(counts.runs, 6);
  EXPECT_EQ(counts.conflicts, 0);
  const std::vector<StudyRecord> studies = *all.Studies();
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[1].machine, "lake");
  EXPECT_EQ(studies[1].host_json, TestStudy().host_json);
  EXPECT_EQ(studies[1].builds, TestStudy().builds);
  const std::vector<RunRecord> runs = Runs(all);
  ASSERT_EQ(runs.size(), 6u);
  EXPECT_EQ(runs[4].study, studies[1].id);
  EXPECT_EQ(runs[4].round, 1);
  EXPECT_EQ(runs[4].summary, TestSummary());
  EXPECT_EQ(runs[4].worker_json, TestRun().worker_json);
  EXPECT_EQ(runs[5].study, 0);
  EXPECT_EQ(*all.Series(runs[4].id), TestSeries());
}

TEST_F(MergeTest, ASecondMergeAddsNothing) {
  Store pond = Filled("pond", 1), all = Open("all.db");
  ASSERT_TRUE(MergeStore(all, pond).ok());
  const MergeCounts again = *MergeStore(all, pond);
  EXPECT_EQ(again.studies, 0);
  EXPECT_EQ(again.runs, 0);
  EXPECT_EQ(again.known_runs, 3);
  EXPECT_EQ(Runs(all).size(), 3u);
}

TEST_F(MergeTest, AStudyThatWentOnBringsOnlyWhatIsNew) {
  Store pond = Filled("pond", 1), all = Open("all.db");
  ASSERT_TRUE(MergeStore(all, pond).ok());
  ASSERT_TRUE(pond.ExtendStudy(1, 9, 12, {{"torch", "0000"}}).ok());
  ASSERT_TRUE(pond.AddRun(Of("pond", 1, 2), TestSeries()).ok());
  RunRecord again = Of("pond", 1, 1);
  again.attempt = 1;
  ASSERT_TRUE(pond.AddRun(again, TestSeries()).ok());
  const MergeCounts counts = *MergeStore(all, pond);
  EXPECT_EQ(counts.studies, 0);
  EXPECT_EQ(counts.runs, 2);
  EXPECT_EQ(all.Studies()->at(0).rounds, 9);
  EXPECT_EQ(all.Studies()->at(0).builds.at("torch"), "0000");
}

TEST_F(MergeTest, AnotherResultForTheSameRunIsCountedAndNotTaken) {
  Store pond = Filled("pond", 1), all = Open("all.db");
  ASSERT_TRUE(MergeStore(all, pond).ok());
  Store copy = Open("copy.db");
  StudyRecord study = TestStudy();
  study.machine_id = "pond-id";
  study.seed = 1;
  RunRecord other = Of("pond", *copy.AddStudy(study), 0);
  other.summary.wall_ns = 777;
  ASSERT_TRUE(copy.AddRun(other, TestSeries()).ok());
  const MergeCounts counts = *MergeStore(all, copy);
  EXPECT_EQ(counts.conflicts, 1);
  EXPECT_EQ(counts.runs, 0);
  EXPECT_EQ(Runs(all)[0].summary.wall_ns, TestSummary().wall_ns);
}

TEST_F(MergeTest, TheNewerParityFindingStays) {
  Store pond = Open("pond.db"), all = Open("all.db");
  ParityRecord parity = TestParity();
  ASSERT_TRUE(pond.SetParity(parity).ok());
  parity.checked_utc = "2026-01-01T00:00:00Z";
  parity.outcome = Outcome::kWrong;
  ASSERT_TRUE(all.SetParity(parity).ok());
  EXPECT_EQ(MergeStore(all, pond)->parities, 1);
  EXPECT_EQ((*all.FindParity(parity.key))->outcome, Outcome::kOk);
  EXPECT_EQ(MergeStore(all, pond)->parities, 0);
}

TEST_F(MergeTest, ParityOfOneCpuIsNotFoundOnAnotherAfterAMerge) {
  Store pond = Open("pond.db"), all = Open("all.db");
  ASSERT_TRUE(pond.SetParity(TestParity()).ok());
  ASSERT_TRUE(MergeStore(all, pond).ok());
  EXPECT_TRUE(all.FindParity(TestParity().key)->has_value()) << "of the same machine";
  ParityKey elsewhere = TestParity().key;
  elsewhere.cpu_model = "Fish 9001";
  EXPECT_FALSE(all.FindParity(elsewhere)->has_value());
  elsewhere = TestParity().key;
  elsewhere.isa = "avx512";
  EXPECT_FALSE(all.FindParity(elsewhere)->has_value());
  // A result of the other CPU is added and replaces none.
  ParityRecord wrong = TestParity();
  wrong.key = elsewhere;
  wrong.outcome = Outcome::kWrong;
  wrong.checked_utc = "2027-01-01T00:00:00Z";
  Store lake = Open("lake.db");
  ASSERT_TRUE(lake.SetParity(wrong).ok());
  ASSERT_TRUE(MergeStore(all, lake).ok());
  EXPECT_EQ((*all.FindParity(TestParity().key))->outcome, Outcome::kOk);
  EXPECT_EQ((*all.FindParity(elsewhere))->outcome, Outcome::kWrong);
}

TEST_F(MergeTest, ParityThatNamesNoBuildOrCpuIsNotCarried) {
  Store pond = Open("pond.db"), all = Open("all.db");
  ParityRecord parity = TestParity();
  parity.key.build = "";
  ASSERT_TRUE(pond.SetParity(parity).ok());
  parity = TestParity();
  parity.key.cpu_model = "";
  ASSERT_TRUE(pond.SetParity(parity).ok());
  EXPECT_EQ(MergeStore(all, pond)->parities, 0);
  EXPECT_TRUE(all.Parities()->empty());
}

TEST_F(MergeTest, AFailedTransactionLeavesNothing) {
  Store pond = Filled("pond", 1), all = Open("all.db");
  const Status status = all.InOneTransaction([&]() -> Status {
    EXPECT_TRUE(MergeStore(all, pond).ok());
    return Failed("the disk is full");
  });
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(all.Studies()->empty());
  EXPECT_TRUE(Runs(all).empty());
}

}  // namespace
}  // namespace tench::merge_test
