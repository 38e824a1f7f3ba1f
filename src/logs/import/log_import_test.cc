// SPDX-License-Identifier: Apache-2.0
#include "logs/import/log_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::log_import_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kTestData =
    std::filesystem::path(TENCH_SOURCE_DIR) / "src/logs/testdata";

LogImport Alexnet() {
  LogImport import;
  import.file = kTestData / "train_alexnet_CPU_016.log";
  EXPECT_TRUE(import.cell.Set("worker", "caffe").ok());
  EXPECT_TRUE(import.cell.Set("network", "alexnet").ok());
  import.machine = "titan";
  import.machine_id = "0123";
  return import;
}

LogImport Written(const TemporaryFolder& folder, const std::string& text) {
  LogImport import = Alexnet();
  import.file = folder.path() / "train_alexnet_CPU_016.log";
  EXPECT_TRUE(WriteFileAtomically(import.file, text).ok());
  return import;
}

const std::string kStart = "I1115 23:02:00.000000 1 solver.cpp:1] Solving net\n";

TEST(LogImportTest, TakesTheStudysNamesApart) {
  const auto name = ParseLogName("train_inception_v1_GPU_008.log");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->network, "inception_v1");
  EXPECT_EQ(name->mode, "GPU");
  EXPECT_EQ(name->batch, 8);
  EXPECT_EQ(ParseLogName("train_alexnet_CPU_1024.log")->batch, 1024);
}

TEST(LogImportTest, RefusesOtherNamesAndShowsTheForm) {
  for (const char* name :
       {"alexnet.log", "train_alexnet_CPU_016.txt", "train_alexnet_CPU.log", "train__CPU_016.log",
        "train_CPU_016.log", "train_alexnet_cpu_016.log", "train_alexnet_CPU_x.log",
        "train_alexnet_CPU_000.log", "train_alexnet_CPU_.log", "train_.log"}) {
    const auto parsed = ParseLogName(name);
    ASSERT_FALSE(parsed.ok()) << name;
    EXPECT_THAT(parsed.error().message, HasSubstr("train_alexnet_CPU_016.log"));
  }
}

TEST(LogImportTest, MakesARunOfALog) {
  const auto result = ImportLog(Alexnet());
  ASSERT_TRUE(result.ok()) << result.error().message;
  const RunRecord& run = result->record;
  EXPECT_EQ(run.outcome, Outcome::kOk);
  EXPECT_EQ(run.worker_version, "imported");
  EXPECT_THAT(run.flags, ElementsAre("imported", "unverified"));
  EXPECT_THAT(run.reason, HasSubstr("imported from /"));
  EXPECT_EQ(run.machine, "titan");
  EXPECT_EQ(run.cell_id, run.cell.Id());
  EXPECT_EQ(run.summary.steps, 5);
  EXPECT_EQ(run.summary.step_ns_median, 1'040'882'000);
  EXPECT_EQ(run.summary.first_loss, 6.75805);
  EXPECT_EQ(result->series.step_ns.size(), 5u);
  EXPECT_THAT(result->series.log, HasSubstr("Optimization Done."));
}

TEST(LogImportTest, LeavesWarmUpOutOfTheTimesButNotOutOfTheLosses) {
  LogImport import = Alexnet();
  import.warmup_steps = 2;
  const auto result = ImportLog(import);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->record.summary.steps, 3);
  EXPECT_EQ(result->series.warmup_ns.size(), 2u);
  EXPECT_EQ(result->series.loss.size(), 5u);
  import.warmup_steps = 5;
  EXPECT_THAT(ImportLog(import).error().message, HasSubstr("--warmup"));
}

TEST(LogImportTest, JudgesALogAsARunIsJudged) {
  const auto folder = TemporaryFolder::Make("import-test");
  const std::string line =
      kStart + "I1115 23:02:01.000000 1 solver.cpp:1] Iteration 0 (0 iter/s, 1s/1 iters), loss = ";
  EXPECT_EQ(ImportLog(Written(*folder, line + "nan\n"))->record.outcome, Outcome::kDiverged);
  const auto negative = ImportLog(Written(*folder, line + "-0.5\n"));
  EXPECT_EQ(negative->record.outcome, Outcome::kOk);
  EXPECT_THAT(negative->record.flags, Contains("negative_loss"));
  const auto failed = ImportLog(
      Written(*folder, kStart + "F1115 23:02:01.000000 1 a.cpp:1] Check failed: out of memory\n"));
  EXPECT_EQ(failed->record.outcome, Outcome::kOutOfMemory);
  EXPECT_THAT(failed->record.flags, Not(Contains("unverified")));
}

TEST(LogImportTest, KnowsAFileByItsNameAndContent) {
  const auto folder = TemporaryFolder::Make("import-test");
  const std::string text =
      kStart +
      "I1115 23:02:01.000000 1 solver.cpp:1] Iteration 0 (0 iter/s, 1s/1 iters), loss = 1\n";
  const auto first = ImportKey(ImportLog(Written(*folder, text))->record);
  ASSERT_TRUE(first);
  EXPECT_EQ(first, ImportKey(ImportLog(Written(*folder, text))->record));
  EXPECT_NE(first, ImportKey(ImportLog(Written(*folder, text + "\n"))->record));
  EXPECT_FALSE(ImportKey(RunRecord()));
}

}  // namespace
}  // namespace tench::log_import_test
