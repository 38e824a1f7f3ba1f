// SPDX-License-Identifier: Apache-2.0
#include "run/study/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "base/json.h"
#include "machine/affinity.h"
#include "machine/host.h"
#include "record/run_flag.h"
#include "run/study/test_runner.h"

namespace tench::runner_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RunnerTest, RunsEveryCellOncePerRoundAndStoresIt) {
  const auto result = Run(Request("quick", {"1", "2", "4"}, 2));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 6);
  EXPECT_FALSE(result->interrupted);
  EXPECT_FALSE(result->already_complete);
  EXPECT_EQ(events_.begun.total, 6);
  EXPECT_EQ(events_.last.done, 6);
  const auto finished = Finished();
  EXPECT_EQ(finished.size(), 6u);
  for (const auto& run : Stored()) {
    EXPECT_EQ(run.outcome, Outcome::kOk) << run.reason;
    EXPECT_EQ(run.study, result->study);
    EXPECT_EQ(run.machine_id.empty(), false);
  }
}

TEST_F(RunnerTest, ACompleteStudyIsNotRunAgainUnlessAsked) {
  StudyRequest request = Request("quick", {"1", "2"}, 1);
  const int64_t first = Run(request)->study;
  const auto again = Run(request);
  EXPECT_TRUE(again->already_complete);
  EXPECT_EQ(again->runs, 0);
  EXPECT_EQ(again->study, first);
  request.fresh = true;
  const auto fresh = Run(request);
  EXPECT_EQ(fresh->runs, 2);
  EXPECT_NE(fresh->study, first);
}

TEST_F(RunnerTest, MoreRoundsExtendTheStudy) {
  const int64_t study = Run(Request("quick", {"1", "2"}, 1))->study;
  const auto more = Run(Request("quick", {"1", "2"}, 3));
  EXPECT_EQ(more->study, study);
  EXPECT_EQ(more->runs, 4);
  EXPECT_EQ(events_.begun.resumed, 2);
  EXPECT_EQ(Store::Open(database_, Store::Mode::kReadOnly)->Studies()->front().rounds, 3);
}

TEST_F(RunnerTest, GoesOnAfterAStopWithoutRepeatingFinishedRuns) {
  stop_after_ = 2;
  const StudyRequest request = Request("quick", {"1", "2", "4"}, 2);
  const auto stopped = Run(request);
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_EQ(stopped->runs, 2);
  stop_.Reset();
  stop_after_ = 0;
  const auto resumed = Run(request);
  EXPECT_EQ(resumed->runs, 4);
  EXPECT_EQ(events_.begun.resumed, 2);
  EXPECT_EQ(Finished().size(), 6u);
}

TEST_F(RunnerTest, AnInterruptedRunIsStoredAndRepeatedAsTheNextAttempt) {
  class StopInTheMiddle : public RecordedEvents {
   public:
    explicit StopInTheMiddle(StopSource& source) : source_(source) {}
    void OnProgress(const StudyProgress&, const PlannedCell&, const RunProgress&) override {
      source_.RequestStop();
    }
    StopSource& source_;
  } events(stop_);
  StudyRequest request = Request("fake", {"1"}, 1, "ok");
  request.cells = {FakeCell("ok", {{"option.step_ms", "50"}})};
  {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    const auto result = RunStudy(store, catalog_, request, events, stop_.token());
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(result->interrupted);
  }
  stop_.Reset();
  ASSERT_TRUE(Run(request));
  const auto stored = Stored();
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].outcome, Outcome::kInterrupted);
  EXPECT_EQ(stored[0].attempt, 0);
  EXPECT_EQ(stored[1].outcome, Outcome::kOk);
  EXPECT_EQ(stored[1].attempt, 1);
}

TEST_F(RunnerTest, ResumesAfterKillWithoutLosingOrRepeatingFinishedRuns) {
  const StudyRequest request = Request("quick", {"1", "2", "4", "8", "16", "32", "64"}, 5);
  std::mt19937 random(7);
  size_t before = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t runner = fork();
    if (runner == 0) _exit(Run(request) ? 0 : 1);
    usleep(std::uniform_int_distribution<useconds_t>(0, 40'000)(random));
    kill(runner, SIGKILL);
    waitpid(runner, nullptr, 0);
    const size_t now = Finished().size();
    EXPECT_GE(now, before) << "a stored run was lost";
    before = now;
  }
  const auto result = Run(request);
  ASSERT_TRUE(result) << result.error().message;
  const auto finished = Finished();
  EXPECT_EQ(finished.size(), 35u);
  for (const auto& [key, count] : finished) EXPECT_EQ(count, 1);
  EXPECT_EQ(Store::Open(database_, Store::Mode::kReadOnly)->Studies()->size(), 1u);
}

TEST_F(RunnerTest, KilledInTheMiddleOfARunItsWorkerDiesToo) {
  StudyRequest request = Request("fake", {}, 1);
  request.cells = {FakeCell("slow", {{"option.pid_file", workers_.pid_file()}})};
  const pid_t runner = fork();
  if (runner == 0) _exit(Run(request) ? 0 : 1);
  for (int i = 0; i < 1000 && workers_.AliveNoted().empty(); ++i) usleep(5000);
  ASSERT_EQ(workers_.AliveNoted().size(), 1u);
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  for (int i = 0; i < 1000 && !workers_.AliveNoted().empty(); ++i) usleep(5000);
  EXPECT_THAT(workers_.AliveNoted(), ElementsAre());
}

TEST_F(RunnerTest, KilledInTheMiddleOfARunItsWorkersChildrenDieToo) {
  StudyRequest request = Request("fake", {}, 1);
  request.cells = {FakeCell("forks_hang", {{"option.pid_file", workers_.pid_file()}})};
  const pid_t runner = fork();
  if (runner == 0) _exit(Run(request) ? 0 : 1);
  for (int i = 0; i < 1000 && workers_.AliveNoted().size() < 3; ++i) usleep(5000);
  ASSERT_EQ(workers_.AliveNoted().size(), 3u);
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  for (int i = 0; i < 1000 && workers_.AliveNoted().size() > 1; ++i) usleep(5000);
  // One of the two children called setsid and is out of the runner's reach.
  const auto left = workers_.AliveNoted();
  EXPECT_LE(left.size(), 1u);
  for (const int64_t pid : left) {
    EXPECT_EQ(getsid(static_cast<pid_t>(pid)), pid);
    kill(static_cast<pid_t>(pid), SIGKILL);
  }
}

TEST_F(RunnerTest, LargerBatchesOfACellThatRanOutOfMemoryAreNotTried) {
  const auto result = Run(Request("fake", {"1", "64", "128", "256"}, 2, "memory_by_batch"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 8);
  int skipped = 0;
  for (const auto& run : Stored()) {
    const int64_t batch = run.cell.Integer(kAxisBatch);
    EXPECT_EQ(run.outcome, batch >= 64 ? Outcome::kOutOfMemory : Outcome::kOk) << run.reason;
    if (!run.reason.starts_with("skipped")) continue;
    ++skipped;
    EXPECT_THAT(run.flags, Contains("skipped"));
    EXPECT_GT(batch, 64);
    EXPECT_THAT(run.reason, HasSubstr("ran out of memory"));
    EXPECT_FALSE(run.reproducer.empty());
  }
  // The smallest failing batch is known by the second round at the latest.
  EXPECT_GE(skipped, 2);
}

TEST_F(RunnerTest, AnotherCellsMemoryIsNoReasonToSkip) {
  StudyRequest request = Request("fake", {"64"}, 1, "memory_by_batch");
  request.cells.push_back(FakeCell("memory_by_batch", {{"batch", "128"}, {"phase", "forward"}}));
  ASSERT_TRUE(Run(request));
  for (const auto& run : Stored()) EXPECT_THAT(run.reason, HasSubstr("cannot allocate for batch"));
}

TEST_F(RunnerTest, TheSecondRunnerOfAStudyIsRefused) {
  StudyRequest request = Request("fake", {}, 1);
  request.cells = {FakeCell("slow", {{"option.pid_file", workers_.pid_file()}})};
  const pid_t runner = fork();
  if (runner == 0) _exit(Run(request) ? 0 : 1);
  for (int i = 0; i < 1000 && workers_.AliveNoted().empty(); ++i) usleep(5000);
  const auto second = Run(request);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(runner)));
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
}

TEST_F(RunnerTest, AFullDiskStopsTheStudyWithAClearErrorAndKeepsWhatIsStored) {
  const StudyRequest request = Request("quick", {"1", "2", "4", "8"}, 25);
  const pid_t runner = fork();
  if (runner == 0) {
    // SQLite sees a file-size limit as a full disk.
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300 << 10, 300 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = Run(request);
    _exit(!result && result.error().message.find("could not be stored") != std::string::npos ? 42
                                                                                             : 1);
  }
  int status = 0;
  waitpid(runner, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  const size_t before = Finished().size();
  EXPECT_GT(before, 0u);
  const auto result = Run(request);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 100 - static_cast<int64_t>(before));
}

TEST_F(RunnerTest, AStudyBeginsWithThePeakOfEveryNumberOfThreads) {
  StudyRequest request = Request("quick", {"1", "2"}, 1);
  ASSERT_TRUE(Run(request).ok());
  request.peak = request.fresh = true;
  ASSERT_TRUE(request.cells[1].cell.Set("threads", "0"));
  request.cells.push_back(FakeCell("ok", {{"worker", "quick"}, {"threads", "4096"}}));
  ASSERT_TRUE(Run(request).ok());
  const std::vector<StudyRecord> studies =
      *Store::Open(database_, Store::Mode::kReadOnly)->Studies();
  EXPECT_FALSE(ParseJson(studies[0].host_json, "host")->contains("peak"));
  std::set<int64_t> threads;
  const Json host = *ParseJson(studies[1].host_json, "host");
  for (const Json& peak : host["peak"]) {
    threads.insert(peak["threads"].get<int64_t>());
    EXPECT_GT(peak["flops_per_s"].get<double>(), 0);
  }
  EXPECT_EQ(threads, (std::set<int64_t>{1, static_cast<int64_t>(AllowedCpus().size())}));
}

TEST_F(RunnerTest, TheSentinelIsReadAroundEveryRun) {
  StudyRequest request = Request("quick", {"1", "2"}, 2);
  request.sentinel = true;
  ASSERT_TRUE(Run(request).ok());
  const std::vector<RunRecord> runs = Stored();
  ASSERT_EQ(runs.size(), 4u);
  for (const RunRecord& run : runs) {
    const SentinelReadings readings = run.summary.sentinel();
    EXPECT_GT(readings.before.compute_ns, 0);
    EXPECT_GT(readings.before.memory_ns, 0);
    EXPECT_GT(readings.after.compute_ns, 0);
    EXPECT_GT(readings.after.memory_ns, 0);
  }
  request.sentinel = false;
  request.fresh = true;
  ASSERT_TRUE(Run(request).ok());
  EXPECT_EQ(Stored().back().summary.sentinel(), SentinelReadings{});
}

TEST_F(RunnerTest, RunsOfAGroupMakeTheStepsThatAPilotPlansAndAResumedStudyKeepsThem) {
  StudyRequest request = Request("fake", {"16"}, 2);
  request.cells.push_back(FakeCell("ok", {{"batch", "16"}, {"option.step_ms", "1"}}));
  for (PlannedCell& cell : request.cells) {
    cell.budget = {};
    cell.budget.min_steps = 6;
    cell.budget.min_time_ns = 0;
    cell.budget.time_limit_ns = 1;
  }
  stop_after_ = 1;
  ASSERT_TRUE(Run(request)->interrupted);
  const StepPlan plan = Studies().back().step_plan;
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan.begin()->first, ComparedGroup(request.cells[0].cell));
  const int64_t steps = plan.begin()->second;
  EXPECT_GE(steps, 6);
  stop_after_ = 0;
  stop_.Reset();
  // Another plan would be made by this budget.
  for (PlannedCell& cell : request.cells) cell.budget.min_steps = 60;
  ASSERT_TRUE(Run(request).ok());
  EXPECT_EQ(Studies().back().step_plan, plan);
  ASSERT_EQ(Stored().size(), 4u) << "pilots are not stored";
  for (const RunRecord& run : Stored()) {
    EXPECT_EQ(run.outcome, Outcome::kOk) << run.reason;
    EXPECT_EQ(run.summary.steps, steps);
    EXPECT_EQ(run.budget.fixed_steps, steps);
    EXPECT_NE(run.reproducer.find(fmt::format("--steps {}", steps)), std::string::npos);
  }
}

TEST_F(RunnerTest, ADisturbedRunIsRepeatedWithItsGroupAtTheEndOfTheStudy) {
  StudyRequest request = Request("quick", {"1"}, 20);
  request.repeat = true;
  {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    StudyRecord study;
    study.suite = request.suite;
    study.suite_fingerprint = request.suite_fingerprint;
    study.machine_id = ReadHost().machine_id;
    study.rounds = 20;
    const int64_t id = *store.AddStudy(study);
    for (int64_t round = 0; round < 20; ++round) {
      RunRecord run;
      run.study = id;
      run.round = round;
      run.cell = request.cells[0].cell;
      run.cell_id = request.cells[0].id;
      const int64_t taken = round == 7 ? 9'000'000 : 3'000'000;
      run.summary.sentinel_before_compute_ns = run.summary.sentinel_after_compute_ns = taken;
      ASSERT_TRUE(store.AddRun(run, {}).ok());
    }
  }
  const StudyResult result = *Run(request);
  EXPECT_EQ(result.runs, 1);
  EXPECT_EQ(result.repeats, 1);
  EXPECT_FALSE(result.already_complete);
  EXPECT_EQ(events_.begun.disturbed, 1);
  EXPECT_EQ(events_.last.total, 21);
  EXPECT_EQ(events_.last.done, 21);
  const RunRecord again = Stored().back();
  EXPECT_EQ(again.round, 7);
  EXPECT_EQ(again.attempt, 1);
  EXPECT_TRUE(Run(request)->already_complete);
  EXPECT_EQ(Stored().size(), 21u);
  for (const RunRecord& run : Stored()) {
    ASSERT_TRUE(run.summary.disturbed) << "judged at the end of the study";
    EXPECT_EQ(*run.summary.disturbed, run.round == 7 && run.attempt == 0);
    EXPECT_EQ(run.summary.slow, false);
  }
}

}  // namespace
}  // namespace tench::runner_test
