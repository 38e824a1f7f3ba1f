// SPDX-License-Identifier: Apache-2.0
#include "worker/option_trial.h"

#include <gtest/gtest.h>

namespace tench {
namespace {

class FakeClock final : public Clock {
 public:
  int64_t Now() override { return now_ns; }
  void SleepUntil(int64_t ns) override { now_ns = ns; }
  int64_t now_ns = 1000;
};

class OptionTrialTest : public testing::Test {
 protected:
  // A step that takes the times of `times_ns` in order, then the last one repeatedly.
  OptionTrial::Step Steps(std::vector<int64_t> times_ns) {
    calls = 0;
    return [this, times_ns]() -> Status {
      clock.now_ns += times_ns[std::min(calls++, times_ns.size() - 1)];
      return Ok();
    };
  }
  FakeClock clock;
  size_t calls = 0;
};

TEST_F(OptionTrialTest, KeepsTheFastestTimedStepAndLeavesTheWarmUpOut) {
  OptionTrial trial({2, 3, 3, 1'000'000}, clock);
  EXPECT_TRUE(*trial.Try("a", Steps({1, 1, 50, 40, 60})));
  EXPECT_EQ(calls, 5u);
  ASSERT_EQ(trial.times().size(), 1u);
  EXPECT_EQ(trial.times()[0].candidate, "a");
  EXPECT_EQ(trial.times()[0].step_ns, 40);
}

TEST_F(OptionTrialTest, ALaterCandidateMustBeStrictlyFaster) {
  OptionTrial trial({0, 1, 1, 1'000'000}, clock);
  EXPECT_TRUE(*trial.Try("default", Steps({40})));
  EXPECT_FALSE(*trial.Try("equal", Steps({40})));
  EXPECT_FALSE(*trial.Try("slower", Steps({41})));
  EXPECT_TRUE(*trial.Try("faster", Steps({39})));
  EXPECT_FALSE(*trial.Try("between", Steps({40})));
  EXPECT_EQ(trial.times().size(), 5u);
}

TEST_F(OptionTrialTest, StopsAtItsBudgetBetweenTheFewestAndTheMostSteps) {
  OptionTrial trial({1, 2, 10, 300}, clock);
  ASSERT_TRUE(trial.Try("slow", Steps({1000})).ok());
  EXPECT_EQ(calls, 1u + 2u);
  ASSERT_TRUE(trial.Try("within", Steps({100})).ok());
  EXPECT_EQ(calls, 1u + 3u);
  ASSERT_TRUE(trial.Try("quick", Steps({1})).ok());
  EXPECT_EQ(calls, 1u + 10u);
}

TEST_F(OptionTrialTest, SaysWhenItsTotalTimeIsOver) {
  OptionTrial trial({0, 1, 1, 10, 100}, clock);
  ASSERT_TRUE(trial.Try("a", Steps({100})).ok());
  EXPECT_FALSE(trial.OutOfTime());
  ASSERT_TRUE(trial.Try("b", Steps({1})).ok());
  EXPECT_TRUE(trial.OutOfTime());
}

TEST_F(OptionTrialTest, AFailedStepEndsTheCandidateWithoutARecord) {
  OptionTrial trial({1, 2, 10, 300}, clock);
  int left = 2;
  const Result<bool> tried = trial.Try("broken", [&]() -> Status {
    if (left-- == 0) return Failed("no kernel");
    clock.now_ns += 1;
    return Ok();
  });
  ASSERT_FALSE(tried.ok());
  EXPECT_EQ(tried.error().message, "no kernel");
  EXPECT_TRUE(trial.times().empty());
  EXPECT_TRUE(*trial.Try("next", Steps({500})));
}

}  // namespace
}  // namespace tench
