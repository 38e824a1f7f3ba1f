// SPDX-License-Identifier: Apache-2.0
#include "report/thesis_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "report/test_ranking.h"

namespace tench::thesis_csv_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ThesisCsvTest : public testing::Test {
 protected:
  ThesisCsvTest()
      : folder_(*TemporaryFolder::Make("thesis-test")),
        target_(folder_.path() / "csv"),
        store_(*Store::Open(folder_.path() / "results.db", Store::Mode::kReadWrite)) {}

  RunRecord Run(const std::string& network, int64_t batch, const std::string& device = "cpu") {
    RunRecord run = TimedRun("caffe", 1e6, batch);
    run.cell.values[kAxisNetwork] = network;
    run.cell.values[kAxisDevice] = device;
    run.cell_id = run.cell.Id();
    return run;
  }
  void Add(const RunRecord& run, std::vector<int64_t> step_ns, std::vector<double> loss,
           std::vector<int64_t> warmup_ns = {}) {
    RunSeries series;
    series.step_ns = std::move(step_ns);
    series.loss = std::move(loss);
    series.warmup_ns = std::move(warmup_ns);
    ASSERT_TRUE(store_.AddRun(run, series).ok());
  }
  ThesisExport Export() {
    Result<ThesisExport> done = ExportThesis(store_, std::nullopt, target_);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return *std::move(done);
  }

  TemporaryFolder folder_;
  std::filesystem::path target_;
  Store store_;
};

TEST_F(ThesisCsvTest, WritesBothFamiliesByteForByte) {
  Add(Run("googlenet", 16), {2'000'000'000, 4'000'000'000}, {7.5, -0.25});
  Add(Run("alexnet", 512, "gpu"), {500'000'001}, {6.907755278982137});
  Add(Run("alexnet", 2), {1'500, 2'500, 3'500}, {1, std::nan(""), INFINITY});
  Add(Run("alexnet", 1024, "cuda:1"), {1'000'000'000}, {3});
  Add(Run("alexnet", 16), {20'000'000}, {9, 4}, {70'000'000});  // one warm-up step
  const ThesisExport done = Export();
  EXPECT_THAT(done.notes, IsEmpty());
  ASSERT_THAT(done.files,
              ElementsAre(target_ / "loss_pond_caffe.csv", target_ / "times_pond_caffe.csv"));
  EXPECT_EQ(*ReadFile(done.files[0]),
            "#network,mode,batch,step,loss,time\r\n"
            "alexnet,CPU,002,0,1.000000000,0.000001500\r\n"
            "alexnet,CPU,002,1,nan,0.000002500\r\n"
            "alexnet,CPU,002,2,inf,0.000003500\r\n"
            "alexnet,CPU,016,0,4.000000000,0.020000000\r\n"
            "alexnet,GPU,512,0,6.907755279,0.500000001\r\n"
            "alexnet,GPU,1024,0,3.000000000,1.000000000\r\n"
            "googlenet,CPU,016,0,7.500000000,2.000000000\r\n"
            "googlenet,CPU,016,1,-0.250000000,4.000000000\r\n");
  EXPECT_EQ(*ReadFile(done.files[1]),
            "#network,mode,batch,avg_time\r\n"
            "alexnet,CPU,002,0.000002500\r\n"
            "alexnet,CPU,016,0.020000000\r\n"
            "alexnet,GPU,512,0.500000001\r\n"
            "alexnet,GPU,1024,1.000000000\r\n"
            "googlenet,CPU,016,3.000000000\r\n");
}

TEST_F(ThesisCsvTest, TakesTheNewestOkRunOfTheTrainPhaseOnly) {
  Add(Run("alexnet", 1), {1'000'000'000}, {1});
  Add(Run("alexnet", 1), {2'000'000'000}, {2});
  RunRecord failed = Run("alexnet", 1);
  failed.outcome = Outcome::kDiverged;
  Add(failed, {3'000'000'000}, {3});
  RunRecord forward = Run("alexnet", 1);
  forward.cell.values[kAxisPhase] = std::string("forward");
  Add(forward, {4'000'000'000}, {4});
  RunRecord never_ok = Run("vgg16", 1);
  never_ok.outcome = Outcome::kOutOfMemory;
  Add(never_ok, {}, {});
  const ThesisExport done = Export();
  EXPECT_EQ(*ReadFile(done.files[1]),
            "#network,mode,batch,avg_time\r\nalexnet,CPU,001,2.000000000\r\n");
  EXPECT_THAT(done.notes, ElementsAre("1 cell without an ok run left out"));
}

TEST_F(ThesisCsvTest, SaysWhatTheFormatCannot) {
  Add(Run("alexnet", 1), {1'000'000'000}, {1});
  RunRecord threads = Run("alexnet", 1);
  threads.cell.values[kAxisThreads] = int64_t{2};
  threads.cell_id = threads.cell.Id();
  Add(threads, {2'000'000'000}, {2});
  const ThesisExport done = Export();
  EXPECT_THAT(*ReadFile(done.files[1]), HasSubstr("alexnet,CPU,001,2.000000000\r\n"));
  ASSERT_EQ(done.notes.size(), 1u);
  EXPECT_THAT(done.notes[0], HasSubstr("alexnet CPU batch 1 has 2 cells"));
}

TEST_F(ThesisCsvTest, NamesFilesSafelyAndEachDifferently) {
  for (const char* worker : {"a/b", "a-b", "../x"}) {
    RunRecord run = Run("my,net", 1);
    run.cell.values[kAxisWorker] = std::string(worker);
    run.machine = "pond 7";
    run.cell_id = run.cell.Id();
    Add(run, {1}, {1});
  }
  const ThesisExport done = Export();
  EXPECT_THAT(done.files,
              ElementsAre(target_ / "loss_pond-7_..-x.csv", target_ / "times_pond-7_..-x.csv",
                          target_ / "loss_pond-7_a-b.csv", target_ / "times_pond-7_a-b.csv",
                          target_ / "loss_pond-7_a-b-2.csv", target_ / "times_pond-7_a-b-2.csv"));
  EXPECT_THAT(*ReadFile(done.files[1]), HasSubstr("my_net,CPU,001,"));
}

TEST_F(ThesisCsvTest, NothingToExportIsAnErrorAndMakesNoFolder) {
  EXPECT_THAT(ExportThesis(store_, std::nullopt, target_).error().message,
              HasSubstr("no finished run"));
  EXPECT_FALSE(std::filesystem::exists(target_));
}

}  // namespace
}  // namespace tench::thesis_csv_test
