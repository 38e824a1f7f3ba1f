// SPDX-License-Identifier: Apache-2.0
// A study is tied to the builds of its workers and to the measuring rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/host.h"
#include "run/study/test_runner.h"

namespace tench::runner_build_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RunnerTest, EveryRunCarriesItsBuildCpuAndRules) {
  ASSERT_TRUE(Run(Request("quick", {"1", "2"}, 1)));
  EXPECT_THAT(events_.identified, ElementsAre("quick"));
  const StudyRecord study = Studies().front();
  EXPECT_EQ(study.rules, kRules);
  ASSERT_TRUE(study.builds.contains("quick"));
  EXPECT_THAT(study.builds.at("quick"), testing::MatchesRegex("[0-9a-f]{16}"));
  const HostFacts host = ReadHost();
  for (const RunRecord& run : Stored()) {
    EXPECT_EQ(run.build, study.builds.at("quick"));
    EXPECT_EQ(run.rules, kRules);
    EXPECT_EQ(run.cpu_model, host.cpu.model);
    EXPECT_EQ(run.isa, IsaOf(host.cpu));
    EXPECT_EQ(run.solver, "sgd");
  }
}

TEST_F(RunnerTest, ARebuiltWorkerBeginsANewStudyAndIsNamedWithBothBuilds) {
  const StudyRequest request = Request("quick", {"1", "2"}, 1);
  const int64_t before = Run(request)->study;
  EXPECT_EQ(events_.why_new, "");
  Rebuild("quick");
  const auto after = Run(request);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_NE(after->study, before);
  EXPECT_EQ(after->runs, 2);
  EXPECT_FALSE(after->already_complete);
  const auto studies = Studies();
  ASSERT_EQ(studies.size(), 2u);
  const std::string was = studies[0].builds.at("quick"), is = studies[1].builds.at("quick");
  EXPECT_NE(was, is);
  EXPECT_EQ(events_.why_new,
            fmt::format("study 1 is not continued: quick changed ({}, now {}); a new study begins",
                        was.substr(0, 7), is.substr(0, 7)));
  EXPECT_TRUE(Run(request)->already_complete) << "which is the one to go on from now on";
  EXPECT_EQ(events_.why_new, "");
}

TEST_F(RunnerTest, AHalfFinishedStudyOfARebuiltWorkerIsNotContinued) {
  stop_after_ = 1;
  const StudyRequest request = Request("quick", {"1", "2"}, 2);
  ASSERT_TRUE(Run(request)->interrupted);
  stop_.Reset();
  stop_after_ = 0;
  Rebuild("quick");
  EXPECT_EQ(Run(request)->runs, 4);
  std::map<int64_t, std::set<std::string>> builds;
  for (const RunRecord& run : Stored()) builds[run.study].insert(run.build);
  ASSERT_EQ(builds.size(), 2u);
  for (const auto& [study, ids] : builds) EXPECT_EQ(ids.size(), 1u) << "study " << study;
}

TEST_F(RunnerTest, AStudyIsNotContinuedWhenAnOlderOneHadTheSameBuild) {
  const StudyRequest request = Request("quick", {"1"}, 1);
  const fs::path quick = workers_.folder() / "tench-worker-quick";
  ASSERT_TRUE(Run(request));
  Rebuild("quick");
  ASSERT_TRUE(Run(request));
  std::ofstream(quick) << kQuickWorker;
  catalog_ = WorkerCatalog::Discover({workers_.folder()});
  const auto back = Run(request);
  EXPECT_EQ(back->study, 3) << "the latest study must be of the build that was measured last";
  EXPECT_EQ(Studies()[0].builds, Studies()[2].builds);
}

TEST_F(RunnerTest, AStudyOfOtherRulesIsNotContinued) {
  const StudyRequest request = Request("quick", {"1"}, 1);
  {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    StudyRecord study;
    study.suite = request.suite;
    study.suite_fingerprint = request.suite_fingerprint;
    study.machine_id = ReadHost().machine_id;
    study.rules = kRules - 1;
    ASSERT_TRUE(store.AddStudy(study).ok());
  }
  EXPECT_EQ(Run(request)->study, 2);
  EXPECT_THAT(events_.why_new, testing::AllOf(HasSubstr("study 1 is not continued"),
                                              HasSubstr(fmt::format("rules {}", kRules - 1))));
}

TEST_F(RunnerTest, AWorkerThatIsInstalledLaterJoinsTheStudyAndItsRunsAreRetried) {
  StudyRequest request = Request("quick", {"1"}, 1);
  request.cells.push_back(FakeCell("ok", {{"worker", "late"}}));
  std::ofstream(workers_.folder() / "tench-worker-late.json") << R"({"name":"late"})";
  catalog_ = WorkerCatalog::Discover({workers_.folder()});
  ASSERT_TRUE(Run(request));
  EXPECT_EQ(Studies()[0].builds.at("late"), "");
  const fs::path late = workers_.folder() / "tench-worker-late";
  std::ofstream(late) << kQuickWorker;
  fs::permissions(late, fs::perms::owner_all);
  catalog_ = WorkerCatalog::Discover({workers_.folder()});
  const auto again = Run(request);
  EXPECT_EQ(again->study, 1);
  EXPECT_EQ(again->runs, 1);
  EXPECT_EQ(events_.begun.retried, 1);
  EXPECT_EQ(Stored().back().outcome, Outcome::kOk);
  EXPECT_EQ(Stored().back().attempt, 1);
  EXPECT_NE(Studies()[0].builds.at("late"), "");
  // The failed attempt stays on record and is left out of reports.
  EXPECT_EQ(Stored().size(), 3u);
  int64_t reported = 0;
  RunFilter filter;
  filter.replaced = false;
  Store store = *Store::Open(database_, Store::Mode::kReadOnly);
  EXPECT_TRUE(store.ForEachRun(filter, [&](const RunRecord& run) {
    EXPECT_EQ(run.outcome, Outcome::kOk);
    return ++reported > 0;
  }));
  EXPECT_EQ(reported, 2);
  Rebuild("late");
  EXPECT_EQ(Run(request)->study, 2);
}

TEST_F(RunnerTest, FailedRunsAreRetriedUnderOtherConditionsOrByRequest) {
  StudyRequest request = Request("fake", {"1", "64", "128"}, 1, "memory_by_batch");
  ASSERT_TRUE(Run(request));
  EXPECT_TRUE(Run(request)->already_complete);
  // Another installed worker is another condition.
  const fs::path other = workers_.folder() / "tench-worker-other";
  fs::copy_file(workers_.folder() / "tench-worker-quick", other);
  catalog_ = WorkerCatalog::Discover({workers_.folder()});
  EXPECT_EQ(Run(request)->runs, 2);
  EXPECT_TRUE(Run(request)->already_complete) << "the retried runs have the present conditions";
  request.retry_failed = true;
  EXPECT_EQ(Run(request)->runs, 2);
  for (const RunRecord& run : Stored()) EXPECT_EQ(run.attempt > 0, run.id > 3) << run.id;
}

TEST_F(RunnerTest, AWorkerThatTheStudyHasNotMeasuredYetJoinsIt) {
  ASSERT_TRUE(Run(Request("quick", {"1"}, 1)));
  StudyRequest request = Request("quick", {"1"}, 1);
  request.cells.push_back(FakeCell("ok"));
  const auto more = Run(request);
  EXPECT_EQ(more->study, 1);
  EXPECT_EQ(more->runs, 1);
  EXPECT_EQ(Studies()[0].builds.size(), 2u);
  Rebuild("quick");
  EXPECT_EQ(Run(request)->study, 2);
}

TEST_F(RunnerTest, AWorkerThatIsRebuiltWhileTheStudyRunsStopsIt) {
  on_finish_ = [this] {
    std::ofstream(workers_.folder() / "tench-worker-quick", std::ios::app) << "# changed\n";
  };
  const StudyRequest request = Request("quick", {"1", "2", "4"}, 1);
  const auto result = Run(request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              testing::AllOf(HasSubstr("study 1 stops"), HasSubstr("quick was rebuilt")));
  EXPECT_EQ(Stored().size(), 1u) << "the run of the other build is not stored";
  on_finish_ = nullptr;
  catalog_ = WorkerCatalog::Discover({workers_.folder()});
  EXPECT_EQ(Run(request)->study, 2);
}

TEST_F(RunnerTest, AStopWhileBuildsAreIdentifiedBeginsNoStudy) {
  stop_.RequestStop();
  const auto result = Run(Request("quick", {"1"}, 1));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->interrupted);
  EXPECT_EQ(result->study, 0);
  EXPECT_TRUE(Studies().empty());
}

}  // namespace
}  // namespace tench::runner_build_test
