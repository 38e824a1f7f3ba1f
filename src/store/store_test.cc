// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "store/database.h"
#include "store/test_run.h"

namespace tench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  StoreTest()
      : folder_(*TemporaryFolder::Make("store-test")),
        path_(folder_.path() / "results.db"),
        store_(Open()) {}

  Store Open() {
    Result<Store> store = Store::Open(path_, Store::Mode::kReadWrite);
    Check(store.ok(), store.ok() ? "" : store.error().message);
    return *std::move(store);
  }
  std::vector<RunRecord> Runs(const RunFilter& filter = {}) {
    std::vector<RunRecord> runs;
    const Status status = store_.ForEachRun(filter, [&](const RunRecord& run) {
      runs.push_back(run);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.error().message;
    return runs;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  Store store_;
};

TEST_F(StoreTest, ANoiseJudgementIsAddedToAStoredRun) {
  const int64_t study = *store_.AddStudy(TestStudy());
  const int64_t id = *store_.AddRun(TestRun(study, 0), {});
  ASSERT_TRUE(store_.AddRun(TestRun(study, 1), {}).ok());
  EXPECT_EQ(Runs()[0].summary.disturbed, std::nullopt);
  ASSERT_TRUE(store_.SetNoise(id, false, true).ok());
  EXPECT_EQ(Runs()[0].summary.slow, false);
  EXPECT_EQ(Runs()[0].summary.disturbed, true);
  EXPECT_EQ(Runs()[1].summary.disturbed, std::nullopt) << "of another run";
  EXPECT_FALSE(store_.SetNoise(id + 99, true, true).ok());
}

TEST_F(StoreTest, GivesBackEveryFieldOfARun) {
  const int64_t study = *store_.AddStudy(TestStudy());
  Cell cell = TestCell();
  for (size_t i = 0; i < Axes().size(); ++i) {
    const Axis& axis = Axes()[i];
    if (axis.kind == AxisKind::kInteger) cell.values[i] = static_cast<int64_t>(i + 3);
    if (axis.kind == AxisKind::kReal) cell.values[i] = 0.125 * static_cast<double>(i + 1);
    if (axis.kind == AxisKind::kChoice) cell.values[i] = axis.choices.back();
  }
  cell.options = {{"layout", "nchw"}, {"quote\"", "it's; DROP TABLE run"}};
  RunRecord given = TestRun(study, 3, cell);
  given.attempt = 2;
  given.outcome = Outcome::kTimeout;
  const int64_t id = *store_.AddRun(given, TestSeries());

  ASSERT_EQ(Runs().size(), 1u);
  const RunRecord run = Runs()[0];
  EXPECT_EQ(run.id, id);
  EXPECT_EQ(run.study, study);
  EXPECT_EQ(run.round, 3);
  EXPECT_EQ(run.attempt, 2);
  EXPECT_EQ(run.cell, cell);
  EXPECT_EQ(run.cell_id, cell.Id());
  EXPECT_EQ(run.cell.Id(), cell.Id());
  EXPECT_EQ(run.block, "cnn");
  EXPECT_EQ(run.budget.warmup_steps, 4);
  EXPECT_EQ(run.budget.fixed_steps, 5);
  EXPECT_EQ(run.budget.epochs, 6);
  EXPECT_EQ(run.budget.min_steps, 7);
  EXPECT_EQ(run.budget.min_time_ns, 8);
  EXPECT_EQ(run.budget.relative_interval, 0.125);
  EXPECT_EQ(run.budget.time_limit_ns, 9);
  EXPECT_EQ(run.limits.timeout_ns, 10);
  EXPECT_EQ(run.limits.memory_bytes, 11);
  EXPECT_EQ(run.limits.swap, SwapPolicy::kKill);
  EXPECT_EQ(run.threads, 2);
  EXPECT_EQ(run.outcome, Outcome::kTimeout);
  EXPECT_EQ(run.reason, "none");
  EXPECT_EQ(run.reproducer, given.reproducer);
  EXPECT_EQ(run.flags, given.flags);
  EXPECT_EQ(run.started_utc, given.started_utc);
  EXPECT_EQ(run.machine, "pond");
  EXPECT_EQ(run.machine_id, "pond-id");
  EXPECT_EQ(run.worker_version, "1.0");
  EXPECT_EQ(run.worker_json, given.worker_json);
  EXPECT_EQ(run.choices_json, given.choices_json);
  EXPECT_EQ(run.environment_json, given.environment_json);
  EXPECT_EQ(run.fingerprint, given.fingerprint);
  EXPECT_EQ(run.parameters, 431'080);
  EXPECT_EQ(run.forward_flops_per_image, 4'586'000);
  EXPECT_EQ(run.step_flops, 880'512'000);
  EXPECT_EQ(run.summary, given.summary);
  EXPECT_EQ(*store_.Series(id), TestSeries());
}

TEST_F(StoreTest, WhatWasNotMeasuredStaysUnmeasured) {
  RunRecord given;
  given.cell = TestCell();
  given.cell_id = given.cell.Id();
  ASSERT_TRUE(store_.AddRun(TestRun(), TestSeries()).ok());
  const int64_t id = *store_.AddRun(given, {});
  // The second of two runs: nothing of the first may shine through.
  EXPECT_EQ(Runs()[1].summary, RunSummary());
  EXPECT_TRUE(Runs()[1].flags.empty());
  EXPECT_EQ(Runs()[1].worker_json, "");
  EXPECT_EQ(*store_.Series(id), RunSeries());
}

TEST_F(StoreTest, ALossThatIsNotANumberIsNotAnUnmeasuredOne) {
  RunRecord given = TestRun();
  given.summary.first_loss = std::numeric_limits<double>::infinity();
  given.summary.last_loss = std::nan("");
  ASSERT_TRUE(store_.AddRun(given, {}).ok());
  EXPECT_EQ(Runs()[0].summary.first_loss, std::numeric_limits<double>::infinity());
  ASSERT_TRUE(Runs()[0].summary.last_loss.has_value());
  EXPECT_TRUE(std::isnan(*Runs()[0].summary.last_loss));
}

TEST_F(StoreTest, KeepsSharedTextsOnce) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store_.AddRun(TestRun(), {}).ok());
  EXPECT_EQ(*Database::OpenReadWrite(path_)->Integer("SELECT count(*) FROM document"), 3);
}

TEST_F(StoreTest, WalksRunsOldestFirstFilteredAndUntilToldToStop) {
  const int64_t a = *store_.AddStudy(TestStudy("a")), b = *store_.AddStudy(TestStudy("b"));
  const Cell big = TestCell("reference", "lenet", 128);
  for (int64_t round = 2; round >= 0; --round) {
    for (const int64_t study : {a, b}) {
      ASSERT_TRUE(store_.AddRun(TestRun(study, round), {}).ok());
      ASSERT_TRUE(store_.AddRun(TestRun(study, round, big), {}).ok());
    }
  }
  ASSERT_TRUE(store_.AddRun(TestRun(), {}).ok());
  EXPECT_EQ(Runs().size(), 13u);
  const std::vector<RunRecord> of_b = Runs({.study = b, .cell_id = {}, .run = {}});
  ASSERT_EQ(of_b.size(), 6u);
  for (size_t i = 1; i < of_b.size(); ++i) EXPECT_LT(of_b[i - 1].id, of_b[i].id);
  EXPECT_EQ(Runs({.study = b, .cell_id = big.Id(), .run = {}}).size(), 3u);
  EXPECT_EQ(Runs({.study = {}, .cell_id = big.Id(), .run = {}}).size(), 6u);
  EXPECT_EQ(Runs({.study = 0, .cell_id = {}, .run = {}}).size(), 1u);
  EXPECT_EQ(Runs({.study = {}, .cell_id = {}, .run = of_b[2].id})[0].round, of_b[2].round);
  int seen = 0;
  ASSERT_TRUE(store_.ForEachRun({}, [&](const RunRecord&) { return ++seen < 4; }).ok());
  EXPECT_EQ(seen, 4);
}

TEST_F(StoreTest, AStudyHasEachAttemptOnceAndASingleRunAsOftenAsOneLikes) {
  const int64_t study = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(store_.AddRun(TestRun(study, 1), {}).ok());
  const Result<int64_t> again = store_.AddRun(TestRun(study, 1), {});
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("already has round 1, attempt 0"));
  EXPECT_TRUE(store_.AddRun(TestRun(study, 2), {}).ok());
  EXPECT_TRUE(store_.AddRun(TestRun(), {}).ok());
  EXPECT_TRUE(store_.AddRun(TestRun(), {}).ok());
  EXPECT_THAT(store_.AddRun(TestRun(99), {}).error().message, HasSubstr("there is no study 99"));
}

TEST_F(StoreTest, AnInterruptedRunIsNotFinishedAndIsMadeUpForByTheNextAttempt) {
  const int64_t study = *store_.AddStudy(TestStudy());
  RunRecord run = TestRun(study, 1);
  run.outcome = Outcome::kInterrupted;
  ASSERT_TRUE(store_.AddRun(run, {}).ok());
  ASSERT_TRUE(store_.AddRun(run, {}).ok());
  EXPECT_TRUE(store_.FinishedRuns(study)->empty());
  run.outcome = Outcome::kCrashed;
  ASSERT_TRUE(store_.AddRun(run, {}).ok());
  EXPECT_EQ(*store_.FinishedRuns(study),
            (std::set<std::pair<int64_t, std::string>>{{1, run.cell_id}}));
  EXPECT_EQ(Runs()[2].attempt, 2);
  EXPECT_FALSE(store_.AddRun(run, {}).ok());
}

TEST_F(StoreTest, FindsTheNewestStudyOfTheSameCommand) {
  ASSERT_TRUE(store_.AddStudy(TestStudy()).ok());
  const int64_t newest = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(store_.AddStudy(TestStudy("other")).ok());
  const auto found = *store_.FindStudy("quick", "0123456789abcdef", "pond-id", "batch=1");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, newest);
  EXPECT_EQ(found->host_json, TestStudy().host_json);
  EXPECT_EQ(found->tench_version, "0.1.0");
  EXPECT_EQ(found->started_utc, TestStudy().started_utc);
  EXPECT_EQ(found->machine, "pond");
  EXPECT_EQ(found->seed, TestStudy().seed);
  EXPECT_EQ(found->rounds, 5);
  EXPECT_EQ(found->cells, 12);
  EXPECT_FALSE(store_.FindStudy("quick", "0123456789abcdef", "pond-id", "")->has_value());
  EXPECT_FALSE(store_.FindStudy("quick", "0123456789abcdef", "lake-id", "batch=1")->has_value());
  EXPECT_FALSE(store_.FindStudy("quick", "0", "pond-id", "batch=1")->has_value());
}

TEST_F(StoreTest, ExtendingAStudyOnlyRaises) {
  const int64_t study = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(store_.ExtendStudy(study, 9, 3).ok());
  const StudyRecord record = store_.Studies()->at(0);
  EXPECT_EQ(record.rounds, 9);
  EXPECT_EQ(record.cells, 12);
  EXPECT_THAT(store_.ExtendStudy(7, 1, 1).error().message, HasSubstr("there is no study 7"));
}

TEST_F(StoreTest, ALivingProcessKeepsItsStudyAndADeadOneLosesIt) {
  const int64_t study = *store_.AddStudy(TestStudy());
  int go[2], taken[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(taken), 0);
  const pid_t child = fork();
  if (child == 0) {
    Store own = Open();
    char byte = own.ClaimStudy(study).ok() ? 'y' : 'n';
    (void)!write(taken[1], &byte, 1);
    (void)!read(go[0], &byte, 1);
    _exit(0);  // without releasing it
  }
  char byte = 0;
  ASSERT_EQ(read(taken[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const Status refused = store_.ClaimStudy(study);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr(fmt::format("process {}", child)),
                                             HasSubstr(fmt::format("study {}", study))));
  EXPECT_TRUE(store_.ReleaseStudy(study).ok());  // not ours: without effect
  EXPECT_FALSE(store_.ClaimStudy(study).ok());
  ASSERT_EQ(write(go[1], "x", 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(store_.ClaimStudy(study).ok());
  EXPECT_TRUE(store_.ClaimStudy(study).ok());  // already ours
  EXPECT_TRUE(store_.ReleaseStudy(study).ok());
  EXPECT_EQ(*Database::OpenReadWrite(path_)->Integer("SELECT count(*) FROM claim"), 0);
  EXPECT_FALSE(store_.ClaimStudy(77).ok());
  for (const int fd : {go[0], go[1], taken[0], taken[1]}) close(fd);
}

TEST_F(StoreTest, AClaimFromAnotherMachineIsNotTakenAway) {
  const int64_t study = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(Database::OpenReadWrite(path_)
                  ->Execute("INSERT INTO claim VALUES (1, 12, 34, 'their boot', 'their machine', "
                            "'lake', '2026-01-01T00:00:00Z')")
                  .ok());
  EXPECT_THAT(store_.ClaimStudy(study).error().message,
              AllOf(HasSubstr("machine lake"), HasSubstr("process 12")));
}

TEST_F(StoreTest, AnOutcomeOfALaterTenchIsNamedAndNotGuessed) {
  ASSERT_TRUE(store_.AddRun(TestRun(), {}).ok());
  ASSERT_TRUE(Database::OpenReadWrite(path_)->Execute("UPDATE run SET outcome = 'eaten'").ok());
  const Status status = store_.ForEachRun({}, [](const RunRecord&) { return true; });
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message,
              AllOf(HasSubstr("run 1"), HasSubstr("'outcome'"), HasSubstr("'eaten'")));
}

TEST_F(StoreTest, OneTransactionKeepsAllOrNothing) {
  const Status failed = store_.InOneTransaction([&]() -> Status {
    TENCH_TRY(store_.AddRun(TestRun(), {}));
    return Failed("changed my mind");
  });
  EXPECT_FALSE(failed.ok());
  EXPECT_TRUE(Runs().empty());
  const Status kept = store_.InOneTransaction([&]() -> Status {
    TENCH_TRY(store_.AddRun(TestRun(), {}));
    EXPECT_FALSE(store_.AddRun(TestRun(99), {}).ok());  // a part that fails takes only itself back
    TENCH_TRY(store_.AddRun(TestRun(), {}));
    return Ok();
  });
  EXPECT_TRUE(kept.ok());
  EXPECT_EQ(Runs().size(), 2u);
}

TEST_F(StoreTest, SeriesOfAnUnknownRunIsAnError) {
  EXPECT_THAT(store_.Series(5).error().message, HasSubstr("there is no run 5"));
}

TEST_F(StoreTest, KeepsParityOncePerWorkerVersionNetworkAndSetting) {
  ParityRecord parity{"native",
                      "1.0",
                      "f00d",
                      "device=cpu",
                      Outcome::kWrong,
                      "conv1 differs",
                      12.5,
                      "gradients of conv1",
                      "now"};
  ASSERT_TRUE(store_.SetParity(parity).ok());
  EXPECT_FALSE(store_.FindParity("native", "1.1", "f00d", "device=cpu")->has_value());
  EXPECT_FALSE(store_.FindParity("native", "1.0", "f00d", "device=gpu")->has_value());
  auto found = *store_.FindParity("native", "1.0", "f00d", "device=cpu");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->outcome, Outcome::kWrong);
  EXPECT_EQ(found->reason, "conv1 differs");
  EXPECT_EQ(found->worst, 12.5);
  parity.outcome = Outcome::kOk;
  ASSERT_TRUE(store_.SetParity(parity).ok());
  EXPECT_EQ((*store_.FindParity("native", "1.0", "f00d", "device=cpu"))->outcome, Outcome::kOk);
}

}  // namespace
}  // namespace tench
