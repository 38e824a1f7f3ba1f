// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/file.h"
#include "record/evaluation.h"
#include "store/database.h"
#include "store/test_run.h"

namespace tench::store_test {
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

TEST_F(StoreTest, AJudgementOfLossesIsAddedToAStoredRun) {
  const int64_t study = *store_.AddStudy(TestStudy());
  RunRecord given = TestRun(study, 0);
  given.summary.losses_agree = std::nullopt;
  const int64_t id = *store_.AddRun(given, {});
  given.round = 1;
  const int64_t other = *store_.AddRun(given, {});
  EXPECT_TRUE(*store_.HasUnjudgedLosses());
  ASSERT_TRUE(store_.SetLossesAgree(other).ok());
  EXPECT_TRUE(*store_.HasUnjudgedLosses());
  RunRecord wrong = Runs()[0];
  wrong.outcome = Outcome::kWrong;
  wrong.reason = "losses: loss 2 at step 1";
  wrong.flags = {"unconverged"};
  wrong.summary.losses_agree = false;
  wrong.worker_version = "changed";
  ASSERT_TRUE(store_.SetLossesWrong(wrong).ok());
  EXPECT_FALSE(*store_.HasUnjudgedLosses());
  EXPECT_EQ(Runs()[0].outcome, Outcome::kWrong);
  EXPECT_EQ(Runs()[0].reason, wrong.reason);
  EXPECT_EQ(Runs()[0].flags, wrong.flags);
  EXPECT_EQ(Runs()[0].summary.losses_agree, false);
  EXPECT_EQ(Runs()[0].worker_version, given.worker_version) << "nothing else changes";
  EXPECT_EQ(Runs()[1].outcome, Outcome::kOk);
  EXPECT_EQ(Runs()[1].summary.losses_agree, true);
  wrong.id = id + 99;
  EXPECT_FALSE(store_.SetLossesWrong(wrong).ok());
  EXPECT_FALSE(store_.SetLossesAgree(id + 99).ok());
}

TEST_F(StoreTest, GivesTheLossOfOneStep) {
  const int64_t id = *store_.AddRun(TestRun(), TestSeries());
  EXPECT_EQ(*store_.LossAt(id, 1), 2.3);
  EXPECT_EQ(*store_.LossAt(id, 4), -0.25);
  EXPECT_EQ(*store_.LossAt(id, 5), std::nullopt);
  EXPECT_FALSE(store_.LossAt(id + 1, 1).ok());
}

TEST_F(StoreTest, OnlyOkRunsOfStudiesWithoutDropoutWaitForAJudgementOfLosses) {
  RunRecord run = TestRun(*store_.AddStudy(TestStudy()), 0);
  run.summary.losses_agree = std::nullopt;
  RunRecord dropout = run, failed = run, unknown = run, single = run;
  dropout.dropout = true;
  failed.round = 1;
  failed.outcome = Outcome::kTimeout;
  unknown.round = 2;
  unknown.dropout = std::nullopt;
  single.study = 0;
  for (const RunRecord& each : {dropout, failed, unknown, single})
    ASSERT_TRUE(store_.AddRun(each, {}).ok());
  EXPECT_FALSE(*store_.HasUnjudgedLosses());
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
  given.role = Role::kBaseline;
  given.rules = 77;
  given.summary.stretches = "9e+06";
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
  EXPECT_EQ(run.cpu_model, "Fish 9000");
  EXPECT_EQ(run.isa, "avx2");
  EXPECT_EQ(run.worker_version, "1.0");
  EXPECT_EQ(run.build, "1a2b3c4d5e6f7081");
  EXPECT_EQ(run.role, Role::kBaseline);
  EXPECT_EQ(run.rules, 77);
  EXPECT_EQ(run.solver, "sgd");
  EXPECT_EQ(run.worker_json, given.worker_json);
  EXPECT_EQ(run.choices_json, given.choices_json);
  EXPECT_EQ(run.environment_json, given.environment_json);
  EXPECT_EQ(run.fingerprint, given.fingerprint);
  EXPECT_EQ(run.parameters, 431'080);
  EXPECT_EQ(run.forward_flops_per_image, 4'586'000);
  EXPECT_EQ(run.step_flops, 880'512'000);
  EXPECT_EQ(run.settings, given.settings);
  EXPECT_EQ(run.summary, given.summary);
  EXPECT_EQ(*store_.Series(id), TestSeries());
}

TEST_F(StoreTest, WhatWasNotMeasuredStaysUnmeasured) {
  RunRecord given;
  given.cell = TestCell();
  given.cell_id = given.cell.Id();
  RunRecord first = TestRun();
  first.role = Role::kOracle;
  ASSERT_TRUE(store_.AddRun(first, TestSeries()).ok());
  const int64_t id = *store_.AddRun(given, {});
  // The reused record must not carry values of the first run over to the second.
  EXPECT_EQ(Runs()[1].summary, RunSummary());
  EXPECT_TRUE(Runs()[1].flags.empty());
  EXPECT_EQ(Runs()[1].worker_json, "");
  EXPECT_EQ(Runs()[1].role, std::nullopt);
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
  EXPECT_EQ(found->rules, kRules);
  EXPECT_EQ(found->builds, TestStudy().builds);
  EXPECT_FALSE(store_.FindStudy("quick", "0123456789abcdef", "pond-id", "")->has_value());
  EXPECT_FALSE(store_.FindStudy("quick", "0123456789abcdef", "lake-id", "batch=1")->has_value());
  EXPECT_FALSE(store_.FindStudy("quick", "0", "pond-id", "batch=1")->has_value());
}

TEST_F(StoreTest, ExtendingAStudyOnlyRaises) {
  const int64_t study = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(store_.ExtendStudy(study, 9, 3, {}).ok());
  const StudyRecord record = store_.Studies()->at(0);
  EXPECT_EQ(record.rounds, 9);
  EXPECT_EQ(record.cells, 12);
  EXPECT_EQ(record.builds, TestStudy().builds);
  EXPECT_THAT(store_.ExtendStudy(7, 1, 1, {}).error().message, HasSubstr("there is no study 7"));
}

TEST_F(StoreTest, AWorkerJoinsAStudyWithItsBuildAndKeepsTheOneThatItHas) {
  const int64_t study = *store_.AddStudy(TestStudy());
  ASSERT_TRUE(store_.ExtendStudy(study, 5, 12, {{"torch", "0000"}, {"reference", "ffff"}}).ok());
  EXPECT_EQ(store_.Studies()->at(0).builds,
            (WorkerBuilds{{"reference", "1a2b3c4d5e6f7081"}, {"theano", ""}, {"torch", "0000"}}));
}

TEST_F(StoreTest, BuildsThatAreNoneAreAnErrorThatNamesTheFile) {
  ASSERT_TRUE(store_.AddStudy(TestStudy()).ok());
  ASSERT_TRUE(Database::OpenReadWrite(path_)->Execute("UPDATE study SET builds = '[1]'").ok());
  const auto studies = store_.Studies();
  ASSERT_FALSE(studies.ok());
  EXPECT_THAT(studies.error().message, AllOf(HasSubstr(path_.string()), HasSubstr("builds")));
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
    _exit(0);  // without ReleaseStudy
  }
  char byte = 0;
  ASSERT_EQ(read(taken[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const Status refused = store_.ClaimStudy(study);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr(fmt::format("process {}", child)),
                                             HasSubstr(fmt::format("study {}", study))));
  EXPECT_TRUE(store_.ReleaseStudy(study).ok());  // not the claimant: no effect
  EXPECT_FALSE(store_.ClaimStudy(study).ok());
  ASSERT_EQ(write(go[1], "x", 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(store_.ClaimStudy(study).ok());
  EXPECT_TRUE(store_.ClaimStudy(study).ok());  // already claimed by this process
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
    EXPECT_FALSE(store_.AddRun(TestRun(99), {}).ok());  // a failed part rolls back only itself
    TENCH_TRY(store_.AddRun(TestRun(), {}));
    return Ok();
  });
  EXPECT_TRUE(kept.ok());
  EXPECT_EQ(Runs().size(), 2u);
}

TEST_F(StoreTest, SeriesOfAnUnknownRunIsAnError) {
  EXPECT_THAT(store_.Series(5).error().message, HasSubstr("there is no run 5"));
}

TEST_F(StoreTest, KeepsOneTuningPerStudyAndCell) {
  Store store = Open();
  const int64_t study = *store.AddStudy(TestStudy());
  const TuningRecord given = TestTuning(study);
  ASSERT_TRUE(store.AddTuning(given).ok());
  EXPECT_FALSE(store.AddTuning(given).ok()) << "the settings of a study never change";
  EXPECT_FALSE(store.AddTuning(TestTuning(study + 1)).ok()) << "there is no such study";
  ASSERT_TRUE(store.AddTuning(TestTuning(study, "beef")).ok());
  const std::vector<TuningRecord> tunings = *store.Tunings(study);
  ASSERT_EQ(tunings.size(), 2u);
  EXPECT_TRUE(store.Tunings(study + 1)->empty());
  const TuningRecord& got = tunings[1];
  EXPECT_EQ(got.cell_id, given.cell_id);
  EXPECT_EQ(got.settings, given.settings);
  EXPECT_EQ(got.budget_ns, given.budget_ns);
  EXPECT_EQ(got.spent_ns, given.spent_ns);
  EXPECT_EQ(got.default_step_ns, given.default_step_ns);
  EXPECT_EQ(got.best_step_ns, given.best_step_ns);
  EXPECT_EQ(got.build, given.build);
  EXPECT_EQ(got.tuned_utc, given.tuned_utc);
  ASSERT_EQ(got.trials.size(), 2u);
  EXPECT_EQ(got.trials[0].step_ns, 2e6);
  EXPECT_EQ(got.trials[1].candidate, "env.NAME=1");
  EXPECT_EQ(got.trials[1].outcome, Outcome::kCrashed);
  EXPECT_EQ(got.trials[1].reason, "signal 11");
  EXPECT_EQ(got.trials[1].step_ns, std::nullopt);
  EXPECT_EQ(got.trials[1].wall_ns, 2'000'000);
  EXPECT_EQ(got.PaysAfterSteps(), 3) << "3 ms, and 1 ms saved per step";
}

TEST_F(StoreTest, KeepsParityOncePerKey) {
  ParityRecord parity = TestParity();
  parity.outcome = Outcome::kWrong;
  parity.reason = "conv1 differs";
  parity.worst = 12.5;
  ASSERT_TRUE(store_.SetParity(parity).ok());
  const auto found = *store_.FindParity(parity.key);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->key, parity.key);
  EXPECT_EQ(found->outcome, Outcome::kWrong);
  EXPECT_EQ(found->reason, "conv1 differs");
  EXPECT_EQ(found->worst, 12.5);
  EXPECT_EQ(found->worst_tensor, parity.worst_tensor);
  EXPECT_EQ(found->checked_utc, parity.checked_utc);
  parity.outcome = Outcome::kOk;
  ASSERT_TRUE(store_.SetParity(parity).ok());
  EXPECT_EQ((*store_.FindParity(parity.key))->outcome, Outcome::kOk);
  EXPECT_EQ(store_.Parities()->size(), 1u);
}

TEST_F(StoreTest, ParityIsNotFoundUnderAnotherValueOfAnyPartOfItsKey) {
  ASSERT_TRUE(store_.SetParity(TestParity()).ok());
  for (const auto part :
       {&ParityKey::worker, &ParityKey::worker_version, &ParityKey::build, &ParityKey::cpu_model,
        &ParityKey::isa, &ParityKey::fingerprint, &ParityKey::setting}) {
    ParityRecord other = TestParity();
    other.key.*part = "another";
    EXPECT_FALSE(store_.FindParity(other.key)->has_value()) << TestParity().key.*part;
    ASSERT_TRUE(store_.SetParity(other).ok());
  }
  EXPECT_EQ(store_.Parities()->size(), 8u);
}

TEST_F(StoreTest, ParityOfAnUnknownBuildOrCpuIsNeverFound) {
  for (const auto part : {&ParityKey::build, &ParityKey::cpu_model}) {
    ParityRecord unknown = TestParity();
    unknown.key.*part = "";
    ASSERT_TRUE(store_.SetParity(unknown).ok());
    EXPECT_FALSE(store_.FindParity(unknown.key)->has_value());
  }
}

TEST_F(StoreTest, KeepsTheEvaluationsAndTheInputOfARun) {
  RunRecord given = TestRun();
  given.budget.test_data = "mnist:digits/test";
  given.budget.eval_every = 62;
  given.budget.until = "accuracy >= 0.98";
  RunSummary& summary = given.summary;
  summary.loading_ns_per_image = 2'290.5;
  summary.input_ns_mean = 39'800.25;
  summary.end_to_end_ns_per_image = 921'000.5;
  summary.evaluations = EncodeEvaluations({{62, 1000, 0.25, 0.98, {}, 7, 8, 1.0}});
  summary.test_loss = 0.25;
  summary.test_top1 = 0.98;
  summary.evaluation_ns = 7;
  summary.target_ns = 8;
  summary.target_epochs = 1.0;
  ASSERT_TRUE(store_.AddRun(given, {}).ok());
  int runs = 0;
  ASSERT_TRUE(store_
                  .ForEachRun({},
                              [&](const RunRecord& run) {
                                ++runs;
                                EXPECT_EQ(run.summary, given.summary);
                                EXPECT_EQ(run.budget.test_data, given.budget.test_data);
                                EXPECT_EQ(run.budget.eval_every, 62);
                                EXPECT_EQ(run.budget.until, given.budget.until);
                                return true;
                              })
                  .ok());
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace tench::store_test
