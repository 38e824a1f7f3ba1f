// SPDX-License-Identifier: Apache-2.0
#include "cli/caffe_log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/data_set.h"

namespace tench::caffe_log_writer_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

class CaffeLogWriterTest : public testing::Test {
 protected:
  CaffeLogWriterTest() {
    solver_.max_iterations = 4;
    solver_.display = 2;
    solver_.average_loss = 2;
    solver_.rate.base = 0.125;
  }
  // The lines that `write` prints, without their prefix.
  std::vector<std::string> Lines(const std::function<void(CaffeLogWriter&)>& write) {
    std::vector<std::string> lines;
    CaffeLogWriter writer(solver_, graph_, [&](const std::string& line) {
      EXPECT_THAT(line, MatchesRegex("I[0-9]+ [0-9:.]+ +[0-9]+ [a-z_]+\\.cpp:[0-9]+\\] .*"));
      lines.push_back(line.substr(line.find("] ") + 2));
    });
    write(writer);
    return lines;
  }

  CaffeSolver solver_;
  Graph graph_ = *LoadNetwork("lenet", "", 0, {});
};

TEST_F(CaffeLogWriterTest, BeginsWithTheNetworkAndThePolicy) {
  EXPECT_THAT(Lines([](CaffeLogWriter& log) { log.Start(); }),
              ElementsAre("Solving lenet", "Learning Rate Policy: fixed"));
}

TEST_F(CaffeLogWriterTest, ADisplayedIterationShowsSpeedMeanLossAndRate) {
  const std::vector<std::string> lines = Lines([](CaffeLogWriter& log) {
    log.Step(1, 250'000'000, 3);
    log.Step(2, 250'000'000, 2);
  });
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "Iteration 2 (4 iter/s, 0.5s/2 iters), loss = 2.5");
  EXPECT_THAT(lines[1], MatchesRegex("    Train net output #0: .* = 2 \\(\\* 1 = 2 loss\\)"));
  EXPECT_EQ(lines[2], "Iteration 2, lr = 0.125");
}

TEST_F(CaffeLogWriterTest, TheSpeedIsThatOfTheIterationsSinceTheLineBefore) {
  solver_.max_iterations = 9;
  const std::vector<std::string> lines = Lines([](CaffeLogWriter& log) {
    for (const int64_t iteration : {1, 2, 3, 4})
      log.Step(iteration, (iteration > 2 ? 2 : 1) * 125'000'000, 1);
  });
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "Iteration 2 (8 iter/s, 0.25s/2 iters), loss = 1");
  EXPECT_EQ(lines[3], "Iteration 4 (4 iter/s, 0.5s/2 iters), loss = 1");
}

TEST_F(CaffeLogWriterTest, TheLastIterationShowsTheMeanOfTheWindowAlone) {
  const std::vector<std::string> lines = Lines([](CaffeLogWriter& log) {
    log.Step(1, 1, 9);
    log.Step(3, 1, 3);
    log.Step(4, 1, 2);
  });
  EXPECT_THAT(lines, ElementsAre("Iteration 4, loss = 2.5"));
}

TEST_F(CaffeLogWriterTest, WithoutDisplayStepsAreSilent) {
  solver_.display = 0;
  EXPECT_THAT(Lines([](CaffeLogWriter& log) { log.Step(2, 1, 1); }), IsEmpty());
}

TEST_F(CaffeLogWriterTest, FilesAndTheEndAreToldAsCaffeDoes) {
  EXPECT_THAT(
      Lines([](CaffeLogWriter& log) {
        log.Weights("a.caffemodel");
        log.Snapshot("b.caffemodel");
        log.Done(true);
        log.Done(false);
      }),
      ElementsAre("Finetuning from a.caffemodel", "Snapshotting to binary proto file b.caffemodel",
                  "Optimization Done.", "Optimization stopped early."));
}

}  // namespace
}  // namespace tench::caffe_log_writer_test
