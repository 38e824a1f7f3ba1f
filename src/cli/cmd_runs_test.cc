// SPDX-License-Identifier: Apache-2.0
// The listings of stored runs, of their steps and of their samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/program_run.h"
#include "record/sample_series.h"
#include "store/store.h"
#include "store/test_run.h"

namespace tench::cmd_runs_test {
namespace {

using testing::HasSubstr;

class CmdRunsTest : public testing::Test {
 protected:
  // Run 1 is ok and has three steps and two samples; run 2 crashed.
  void SetUp() override {
    Store store = *Store::Open(database_, Store::Mode::kReadWrite);
    const int64_t study = *store.AddStudy(TestStudy());
    RunSeries series = TestSeries();
    SampleSeries samples;
    for (const int64_t mib : {3, 5}) {
      Sample sample;
      sample.time_ns = mib * 1'000'000;
      sample.processes = 1;
      sample.rss_bytes = mib << 20;
      samples.Add(sample);
    }
    series.samples = samples.Encode();
    ASSERT_TRUE(store.AddRun(TestRun(study, 0), series).ok());
    RunRecord crashed = TestRun(study, 1);
    crashed.outcome = Outcome::kCrashed;
    ASSERT_TRUE(store.AddRun(crashed, {}).ok());
  }

  Json Listed(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", database_, "--json"});
    const ProgramRun run = RunTench(arguments);
    EXPECT_EQ(run.code, 0) << run.errors;
    return Json::parse(run.output);
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-runs-");
  const std::string database_ = (folder_.path() / "r.db").string();
};

TEST_F(CmdRunsTest, AnOutcomeSelectsItsRuns) {
  EXPECT_EQ(Listed({"runs"}).size(), 2u);
  const Json crashed = Listed({"runs", "--outcome", "crashed"});
  ASSERT_EQ(crashed.size(), 1u);
  EXPECT_EQ(crashed[0]["outcome"], "crashed");
  EXPECT_EQ(Listed({"runs", "--outcome", "timeout"}).size(), 0u);
  EXPECT_THAT(RunTench({"runs", "--db", database_, "--outcome", "ok"}).output,
              HasSubstr("1 run\n"));
}

TEST_F(CmdRunsTest, EveryStepAndSampleIsARow) {
  EXPECT_EQ(Listed({"steps", "1"}).size(), 4u) << "a warm-up step and three timed steps";
  const Json samples = Listed({"samples", "1"});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1]["rss_bytes"], 5 << 20);
  EXPECT_EQ(Listed({"samples", "2"}).size(), 0u);
}

}  // namespace
}  // namespace tench::cmd_runs_test
