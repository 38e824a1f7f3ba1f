// SPDX-License-Identifier: Apache-2.0
// The runner's judgement of losses, which compares the workers of a cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "record/run_flag.h"
#include "run/study/test_runner.h"

namespace tench::runner_loss_test {
namespace {

namespace fs = std::filesystem;

// Workers whose losses are given, on a network without dropout.
class LossRunnerTest : public RunnerTest {
 protected:
  void AddWorker(const std::string& name, const std::string& losses) {
    const fs::path file = workers_.folder() / ("tench-worker-" + name);
    std::string script = kQuickWorker;
    script.replace(script.find("\"quick\""), 7, "\"" + name + "\"");
    script.replace(script.find("3,2,1"), 5, losses);
    std::ofstream(file) << script;
    fs::permissions(file, fs::perms::owner_all);
    catalog_ = WorkerCatalog::Discover({workers_.folder()});
  }
  StudyRequest RequestOf(const std::vector<std::string>& workers, int64_t rounds) {
    StudyRequest request = Request("quick", {}, rounds);
    for (const std::string& worker : workers)
      request.cells.push_back(FakeCell("ok", {{"worker", worker}}));
    return request;
  }
  std::map<std::string, std::set<Outcome>> Outcomes() {
    std::map<std::string, std::set<Outcome>> outcomes;
    for (const RunRecord& run : Stored()) outcomes[run.cell.Text(kAxisWorker)].insert(run.outcome);
    return outcomes;
  }
};

const std::set<Outcome> kOnlyOk = {Outcome::kOk}, kOnlyWrong = {Outcome::kWrong};

TEST_F(LossRunnerTest, ARunWhoseLossesDisagreeIsWrongAfterItWasTimed) {
  AddWorker("one", "3,2,1");
  AddWorker("two", "3,2.001,1.01");
  AddWorker("odd", "3,2.9,2.8");
  const auto result = Run(RequestOf({"one", "two", "odd"}, 2));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->disagreeing, 2);
  EXPECT_EQ(Outcomes(), (std::map<std::string, std::set<Outcome>>{
                            {"odd", kOnlyWrong}, {"one", kOnlyOk}, {"two", kOnlyOk}}));
  for (const RunRecord& run : Stored()) {
    const bool odd = run.cell.Text(kAxisWorker) == "odd";
    EXPECT_EQ(run.summary.losses_agree, !odd);
    EXPECT_TRUE(run.summary.step_ns_median) << "its time stays on record";
    EXPECT_EQ(HasFlag(run.flags, kFlagUnverified), !odd);
    EXPECT_THAT(run.reason, testing::MatchesRegex(
                                odd ? "losses: loss 2.9 at step 2, but 2 with one 1\\+[0-9a-f]+ "
                                      "behaviour=ok, two 1\\+[0-9a-f]+ behaviour=ok "
                                      "\\(allowed difference 0.1\\)"
                                    : ""));
  }
}

TEST_F(LossRunnerTest, RunsThatAgreeStayOk) {
  AddWorker("one", "3,2,1");
  EXPECT_EQ(Run(RequestOf({"one", "quick"}, 1))->disagreeing, 0);
  for (const RunRecord& run : Stored()) {
    EXPECT_EQ(run.outcome, Outcome::kOk);
    EXPECT_EQ(run.summary.losses_agree, true);
  }
}

TEST_F(LossRunnerTest, LossesAreJudgedOnceWhenNoRunIsLeft) {
  AddWorker("one", "3,2,1");
  AddWorker("odd", "5,4,3");
  const StudyRequest request = RequestOf({"one", "quick", "odd"}, 2);
  stop_after_ = 4;
  EXPECT_TRUE(Run(request)->interrupted);
  for (const RunRecord& run : Stored()) EXPECT_EQ(run.summary.losses_agree, std::nullopt);
  stop_.Reset();
  stop_after_ = 0;
  EXPECT_EQ(Run(request)->disagreeing, 2) << "both rounds, those from before the stop included";
  const auto again = Run(request);
  EXPECT_TRUE(again->already_complete) << "a wrong run is not repeated";
  EXPECT_EQ(again->disagreeing, 0);
  EXPECT_EQ(Outcomes()["odd"], kOnlyWrong);
  EXPECT_EQ(Stored().size(), 6u);
  // More rounds: the new run is wrong, too, and the old ones are still evidence.
  EXPECT_EQ(Run(RequestOf({"one", "quick", "odd"}, 3))->disagreeing, 1);
  EXPECT_EQ(Outcomes()["odd"], kOnlyWrong);
  EXPECT_EQ(Outcomes()["one"], kOnlyOk);
}

TEST_F(LossRunnerTest, CellsThatDifferInMoreThanTheWorkerAreNotCompared) {
  AddWorker("odd", "5,4,3");
  StudyRequest request = RequestOf({"quick"}, 1);
  request.cells.push_back(FakeCell("ok", {{"worker", "odd"}, {"batch", "3"}}));
  EXPECT_EQ(Run(request)->disagreeing, 0);
}

TEST_F(LossRunnerTest, LossesOfANetworkWithDropoutAreNotCompared) {
  AddWorker("odd", "5,4,3");
  StudyRequest request = Request("quick", {}, 1);
  for (const char* worker : {"quick", "odd"})
    request.cells.push_back(FakeCell("ok", {{"worker", worker}, {"network", "alexnet"}}));
  EXPECT_EQ(Run(request)->disagreeing, 0);
  for (PlannedCell& cell : request.cells) {
    ASSERT_TRUE(cell.cell.Set("phase", "forward"));
    cell.id = cell.cell.Id();
  }
  request.fresh = true;
  EXPECT_EQ(Run(request)->disagreeing, 2) << "in inference dropout is the identity";
}

}  // namespace
}  // namespace tench::runner_loss_test
