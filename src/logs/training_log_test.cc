// SPDX-License-Identifier: Apache-2.0
#include "logs/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::training_log_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kTestData =
    std::filesystem::path(TENCH_SOURCE_DIR) / "src/logs/testdata";

TrainingLog Caffe(const std::string& text) {
  auto log = ReadCaffeLog(text, "a.log");
  EXPECT_TRUE(log.ok()) << log.error().message;
  return *std::move(log);
}
std::string CaffeError(const std::string& text) {
  return ReadCaffeLog(text, "a.log").error().message;
}

// A log line at second `seconds`.
std::string At(const std::string& seconds, const std::string& message) {
  return "I1115 23:02:" + seconds + " 1 solver.cpp:1] " + message + "\n";
}

TEST(TrainingLogTest, TimesARealCaffeLogByItsTimeStamps) {
  const TrainingLog log = Caffe(*ReadFile(kTestData / "train_alexnet_CPU_016.log"));
  EXPECT_THAT(log.loss, ElementsAre(6.75805, 6.02856, 4.58159, 2.45028, 0.30994));
  EXPECT_THAT(log.step_ns,
              ElementsAre(1'221'797'000, 1'460'415'000, 1'040'882'000, 996'271'000, 1'028'698'000));
  EXPECT_EQ(log.first_step, 0);
  EXPECT_EQ(log.iterations_per_entry, 1);
  EXPECT_EQ(log.failure, TrainingLog::Failure::kNone);
  EXPECT_EQ(log.wall_ns, 6'787'119'000);
}

TEST(TrainingLogTest, ReadsTheFormOfOlderVersionsAndLeavesTheLastForwardPassOut) {
  const TrainingLog log =
      Caffe(At("10.000000", "Solving net") + At("11.000000", "Iteration 0, loss = 3") +
            At("11.000010", "Iteration 0, lr = 0.01") + At("13.000000", "Iteration 1, loss = 2") +
            At("13.000010", "Iteration 1, lr = 0.01") + At("14.000000", "Iteration 2, loss = 1") +
            At("14.000010", "Optimization Done."));
  EXPECT_THAT(log.loss, ElementsAre(3, 2));
  EXPECT_THAT(log.step_ns, ElementsAre(1'000'000'000, 2'000'000'000));
}

TEST(TrainingLogTest, DividesByTheDisplayIntervalAndTakesTestingOff) {
  const TrainingLog log = Caffe(At("00.000000", "Solving net") +
                                At("01.000000", "Iteration 0 (0 iter/s, 1s/20 iters), loss = 3") +
                                At("05.000000", "Iteration 20, Testing net (#0)") +
                                At("09.000000", "    Test net output #0: accuracy = 0.5") +
                                At("25.000000", "Iteration 20 (1 iter/s, 24s/20 iters), loss = 2"));
  EXPECT_THAT(log.step_ns, ElementsAre(1'000'000'000, 1'000'000'000));
  EXPECT_EQ(log.iterations_per_entry, 20);
}

TEST(TrainingLogTest, FallsBackOnThePrintedSecondsWhereTheClockWasSetBack) {
  const TrainingLog log = Caffe(At("30.000000", "Solving net") +
                                At("20.000000", "Iteration 0 (0 iter/s, 0.5s/1 iters), loss = 3"));
  EXPECT_THAT(log.step_ns, ElementsAre(500'000'000));
  EXPECT_THAT(
      CaffeError(At("30.000000", "Solving net") + At("20.000000", "Iteration 0, loss = 3") +
                 At("20.000000", "Iteration 0, lr = 1")),
      HasSubstr("a.log:3: the duration of iteration 0 is unknown: the time stamps go backwards"));
}

TEST(TrainingLogTest, KeepsWhatATrainingDidBeforeItFailed) {
  const TrainingLog log = Caffe(At("00.000000", "Solving net") +
                                At("01.000000", "Iteration 0 (0 iter/s, 1s/1 iters), loss = 3") +
                                "F1115 23:02:02.000000 1 syncedmem.cpp:71] Check failed: error == "
                                "cudaSuccess (2 vs. 0)  out of memory\n" +
                                "*** Check failure stack trace: ***\n");
  EXPECT_THAT(log.loss, ElementsAre(3));
  EXPECT_EQ(log.failure, TrainingLog::Failure::kOutOfMemory);
  EXPECT_THAT(log.failure_text, HasSubstr("cudaSuccess"));
}

TEST(TrainingLogTest, PointsAtTheLineThatIsWrong) {
  const std::string good = At("00.000000", "Solving net") +
                           At("01.000000", "Iteration 5 (0 iter/s, 1s/1 iters), loss = 3");
  EXPECT_THAT(CaffeError(good + At("02.000000", "Iteration 6 (1 iter/s, 1s/1 iters), loss = what")),
              HasSubstr("a.log:3: unexpected form of a Caffe log line"));
  EXPECT_THAT(CaffeError(good + At("02.000000", "Iteration 0 (1 iter/s, 1s/1 iters), loss = 3")),
              HasSubstr("a.log:3: iteration 0 after iteration 5: two trainings in one log"));
  EXPECT_THAT(CaffeError("no log\n"), HasSubstr("a.log: no training iteration found"));
  EXPECT_THAT(CaffeError(""), HasSubstr("a.log: no training iteration"));
}

TEST(TrainingLogTest, ForgivesALogThatWasCutInALine) {
  const std::string whole = At("00.000000", "Solving net") +
                            At("01.000000", "Iteration 0 (0 iter/s, 1s/1 iters), loss = 3");
  EXPECT_THAT(
      Caffe(whole + "I1115 23:02:02.000000 1 solver.cpp:1] Iteration 1 (0.9 iter/s, 1").loss,
      ElementsAre(3));
}

TEST(TrainingLogTest, ReadsATensorflowLog) {
  const auto log =
      ReadTensorflowLog(*ReadFile(kTestData / "train_inception_v1_GPU_032.log"), "t.log");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->first_step, 1);
  EXPECT_THAT(log->loss, ElementsAre(7.8112, 7.2034, 5.9120, 3.0071));
  EXPECT_THAT(log->step_ns, ElementsAre(9'417'000'000, 402'000'000, 398'000'000, 401'000'000));
  EXPECT_EQ(log->failure, TrainingLog::Failure::kNone);
}

TEST(TrainingLogTest, ReadsTheLaterPrefixOfTensorflowAndItsFailures) {
  const auto log = ReadTensorflowLog(
      "I1115 23:02:19.619979 140 learning.py:507] global step 10: loss = 2.5 (0.25 sec/step)\n"
      "Traceback (most recent call last):\n"
      "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor "
      "with shape[512,64]\n",
      "t.log");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_THAT(log->loss, ElementsAre(2.5));
  EXPECT_EQ(log->failure, TrainingLog::Failure::kOutOfMemory);
  EXPECT_THAT(log->failure_text, HasSubstr("OOM when allocating"));
}

TEST(TrainingLogTest, PointsAtTheTensorflowLineThatIsWrong) {
  const std::string good = "INFO:tensorflow:global step 2: loss = 2.5 (0.25 sec/step)\n";
  const auto error = [&](const std::string& line) {
    return ReadTensorflowLog(good + line, "t.log").error().message;
  };
  EXPECT_THAT(error("INFO:tensorflow:global step 3: loss = 2.5 (0.25 s)\n"),
              HasSubstr("t.log:2: not in the form"));
  EXPECT_THAT(error("INFO:tensorflow:global step 3: loss = 2.5 (-1 sec/step)\n"),
              HasSubstr("t.log:2: -1 s is not a plausible step time"));
  EXPECT_THAT(error("INFO:tensorflow:global step 2: loss = 2.5 (1 sec/step)\n"),
              HasSubstr("t.log:2: step 2 after step 2"));
  EXPECT_THAT(ReadTensorflowLog("INFO:tensorflow:Starting Session.\n", "t.log").error().message,
              HasSubstr("t.log: no line"));
}

}  // namespace
}  // namespace tench::training_log_test
