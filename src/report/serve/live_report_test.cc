// SPDX-License-Identifier: Apache-2.0
#include "report/serve/live_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "report/html/test_report.h"
#include "store/live_progress.h"

namespace tench::live_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class LiveReportTest : public testing::Test {
 protected:
  void SetUp() override { store_.emplace(*Store::Open(database_, Store::Mode::kReadWrite)); }

  int64_t AddStudy(const std::string& suite) {
    StudyRecord study = TestStudy(suite);
    study.rounds = 2;
    study.cells = 1;
    return *store_->AddStudy(study);
  }
  void AddRun(int64_t study, int64_t round, const std::string& worker = "torch") {
    RunRecord run = ReportRun(worker, 64, "train", round);
    run.study = study;
    ASSERT_TRUE(store_->AddRun(run, ReportSeries()).ok());
  }
  std::unique_ptr<LiveReport> Open(LiveReportOptions options = {}) {
    options.database = database_;
    auto report = LiveReport::Open(std::move(options));
    EXPECT_TRUE(report.ok()) << report.error().message;
    return *std::move(report);
  }
  static Json StateOf(LiveReport& report) { return Json::parse(*report.State()); }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-live-report");
  const std::filesystem::path database_ = folder_.path() / "a.db";
  std::optional<Store> store_;
};

TEST_F(LiveReportTest, WaitsUntilAStudyBegins) {
  const auto report = Open();
  EXPECT_EQ(StateOf(*report)["state"], "waiting");
  EXPECT_THAT(*report->Page(), HasSubstr("There are no runs."));
  EXPECT_EQ(Json::parse(*report->Summary())["parts"], Json::object());
  AddStudy("quick");
  const Json state = StateOf(*report);
  EXPECT_EQ(state["state"], "stopped") << "no process works on it";
  EXPECT_EQ(state["suite"], "quick");
  EXPECT_EQ(state["done"], 0);
  EXPECT_EQ(state["total"], 2);
}

TEST_F(LiveReportTest, CountsStoredRunsAndSaysWhenAllAreThere) {
  const int64_t study = AddStudy("quick");
  AddRun(study, 0);
  const auto report = Open();
  const Json first = StateOf(*report);
  EXPECT_EQ(first["state"], "stopped");
  EXPECT_EQ(first["done"], 1);
  EXPECT_THAT(Json::parse(*report->Summary())["parts"]["live-ranking"].get<std::string>(),
              HasSubstr("<td>1</td><td class=\"left\">torch"));
  AddRun(study, 1);
  const Json second = StateOf(*report);
  EXPECT_EQ(second["state"], "complete");
  EXPECT_GT(second["version"].get<int>(), first["version"].get<int>());
  EXPECT_EQ(StateOf(*report)["version"], second["version"]) << "nothing has changed since";
}

TEST_F(LiveReportTest, ShowsTheRunInProgress) {
  const int64_t study = AddStudy("quick");
  auto file = LiveProgressFile::Create(database_, study);
  LiveProgress progress;
  progress.study = study;
  progress.done = 1, progress.total = 3;
  progress.rounds = 2;
  progress.run.emplace();
  progress.run->worker = "torch";
  progress.run->losses = {{1, 2.5}, {2, std::numeric_limits<double>::infinity()}};
  ASSERT_TRUE(file->Write(progress).ok());
  const auto report = Open();
  const Json state = StateOf(*report);
  EXPECT_EQ(state["state"], "running");
  EXPECT_EQ(state["done"], 1);
  EXPECT_EQ(state["total"], 3);
  EXPECT_EQ(state["run"]["worker"], "torch");
  EXPECT_EQ(state["run"]["losses"], (Json{{1, 2.5}, {2, nullptr}}));
}

TEST_F(LiveReportTest, FollowsTheNewestStudyOrStaysWithTheOneAskedFor) {
  const int64_t old = AddStudy("old");
  const auto newest = Open();
  LiveReportOptions options;
  options.study = old;
  const auto chosen = Open(std::move(options));
  EXPECT_EQ(StateOf(*newest)["suite"], "old");
  AddStudy("new");
  EXPECT_EQ(StateOf(*newest)["suite"], "new");
  EXPECT_EQ(StateOf(*chosen)["suite"], "old");
}

TEST_F(LiveReportTest, TheFirstPageKnowsTheVersionThatItShows) {
  AddRun(AddStudy("quick"), 0);
  const auto report = Open();
  const std::string page = *report->Page();
  EXPECT_THAT(page, HasSubstr("data-version=\"" + StateOf(*report)["version"].dump() + "\""));
  EXPECT_THAT(page, HasSubstr("connect-src 'self'"));
  EXPECT_THAT(page, HasSubstr("<div id=\"answers\">"));
}

TEST_F(LiveReportTest, StoredTextIsEscaped) {
  const int64_t study = AddStudy("quick");
  AddRun(study, 0, "<img src=x onerror=alert(1)>");
  const auto report = Open();
  EXPECT_THAT(Json::parse(*report->Summary())["parts"]["live-ranking"].get<std::string>(),
              Not(HasSubstr("<img")));
}

TEST_F(LiveReportTest, AFileThatIsReplacedIsReadAnewAndOneThatIsGoneIsAnError) {
  AddStudy("old");
  const auto report = Open();
  EXPECT_EQ(StateOf(*report)["suite"], "old");
  store_.reset();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(database_.string() + end);
  const auto gone = report->State();
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().message, HasSubstr("the file is gone"));
  store_.emplace(*Store::Open(database_, Store::Mode::kReadWrite));
  AddStudy("new");
  EXPECT_EQ(StateOf(*report)["suite"], "new");
}

TEST_F(LiveReportTest, AMissingFileOrStudyIsAnError) {
  LiveReportOptions options;
  options.database = folder_.path() / "b.db";
  const auto missing = LiveReport::Open(options);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("there is no such file"));
  options.database = database_;
  options.study = 7;
  const auto study = LiveReport::Open(options);
  ASSERT_FALSE(study.ok());
  EXPECT_THAT(study.error().message, HasSubstr("has no study 7"));
}

}  // namespace
}  // namespace tench::live_report_test
