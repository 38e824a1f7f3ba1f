// SPDX-License-Identifier: Apache-2.0
#include "worker/timed_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <set>

#include "worker/fake_adapter.h"
#include "worker/process_facts.h"

namespace tench::timed_loop_test {
namespace {

using testing::Each;
using testing::ElementsAre;

// Advances only when told to, so that a test controls the time of each step.
class HandClock final : public Clock {
 public:
  int64_t Now() override { return now_ns; }
  void SleepUntil(int64_t ns) override { now_ns = ns; }
  int64_t now_ns = 1000;
};

class TimedLoopTest : public testing::Test {
 protected:
  TimedLoopTest() {
    options.clock = &clock;
    options.budget.warmup_steps = 2;
    options.budget.fixed_steps = 3;
    adapter.on_step = [this](int64_t step) -> Result<double> {
      clock.now_ns += step_ns;
      return static_cast<double>(step) / 2;
    };
  }

  Result<LoopResult> Run() {
    return RunTimedLoop(adapter, options, [this](const Steps& steps) -> Status {
      lines.push_back(steps);
      return Ok();
    });
  }

  HandClock clock;
  FakeAdapter adapter;
  LoopOptions options;
  int64_t step_ns = 1'000'000;
  std::vector<Steps> lines;
};

TEST_F(TimedLoopTest, MarksWarmUpStepsAndCountsThemInTheNumbering) {
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].warmup);
  EXPECT_EQ(lines[0].first, 0);
  EXPECT_THAT(lines[0].loss, ElementsAre(0, 0.5));
  EXPECT_FALSE(lines[1].warmup);
  EXPECT_EQ(lines[1].first, 2);
  EXPECT_THAT(lines[1].loss, ElementsAre(1, 1.5, 2));
  EXPECT_THAT(lines[1].step_ns, ElementsAre(1'000'000, 1'000'000, 1'000'000));
  EXPECT_THAT(lines[1].input_ns, ElementsAre());
  EXPECT_EQ(result->steps, 5);
  EXPECT_EQ(result->wall_ns, 3'000'000);
  EXPECT_TRUE(result->converged);
  EXPECT_FALSE(result->stopped);
}

TEST_F(TimedLoopTest, RestartsTheProfileAfterTheWarmUp) {
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(adapter.profiled_from, 2);
}

TEST_F(TimedLoopTest, SendsALineAboutEveryFifthOfASecond) {
  options.budget.warmup_steps = 0;
  options.budget.fixed_steps = 10;
  step_ns = 90'000'000;
  ASSERT_TRUE(Run().ok());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].step_ns.size(), 3u);
  EXPECT_EQ(lines[3].first, 9);
}

TEST_F(TimedLoopTest, KeepsLinesShortWhenStepsAreShort) {
  options.budget.fixed_steps = 50'000;
  step_ns = 10;
  ASSERT_TRUE(Run().ok());
  int64_t next = 0;
  for (const Steps& line : lines) {
    EXPECT_EQ(line.first, next);
    next += static_cast<int64_t>(line.step_ns.size());
    EXPECT_LT(ToLine(line).size(), kMaxLineBytes / 4);
  }
  EXPECT_EQ(next, 50'002);
}

TEST_F(TimedLoopTest, CountsCodeThatIsGeneratedDuringTimedSteps) {
  int64_t code_bytes = 0;
  options.generated_code = [&] { return code_bytes; };
  options.budget.fixed_steps = 6;
  step_ns = 150'000'000;
  std::set<int64_t> compiling = {0, 1};  // the warm-up steps
  adapter.on_step = [&](int64_t step) -> Result<double> {
    clock.now_ns += step_ns;
    if (compiling.contains(step)) code_bytes += 4096;
    return 1;
  };
  ASSERT_TRUE(Run().ok());
  int64_t compilations = 0;
  for (const Steps& line : lines) compilations += line.compilations;
  EXPECT_EQ(compilations, 0) << "those of warm-up steps are expected";

  lines.clear();
  adapter.steps = 0;
  compiling.insert(4);
  ASSERT_TRUE(Run().ok());
  for (const Steps& line : lines) compilations += line.compilations;
  EXPECT_EQ(compilations, 1);
  EXPECT_EQ(lines.back().compilations, 1);
}

TEST_F(TimedLoopTest, FollowsTheScheduleOfRatesAndHoldsTheLast) {
  options.lr_schedule = {0.1, 0.1, 0.01};
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(adapter.rates_at_step, ElementsAre(0.1, 0.1, 0.01, 0.01, 0.01));
  EXPECT_THAT(adapter.rates, ElementsAre(0.1, 0.01));
}

TEST_F(TimedLoopTest, LeavesTheRateAloneWithoutASchedule) {
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(adapter.rates, ElementsAre());
}

TEST_F(TimedLoopTest, TimesNewBatchesApartAndTheirMakingNotAtAll) {
  options.make_batch = [this](int64_t) -> Status {
    clock.now_ns += 77;
    return Ok();
  };
  options.next_batch = [this](int64_t step) -> Status {
    clock.now_ns += 10 + step;
    return Ok();
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(lines[1].input_ns, ElementsAre(12, 13, 14));
  EXPECT_THAT(lines[1].step_ns, Each(1'000'000));
}

TEST_F(TimedLoopTest, StopsWhenTheIntervalIsGood) {
  options.budget = Budget{};
  options.budget.min_time_ns = 20'000'000;
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->converged);
  EXPECT_EQ(result->steps, 3 + 20);
}

TEST_F(TimedLoopTest, SaysThatTheTimeLimitCameFirst) {
  options.budget = Budget{};
  options.budget.time_limit_ns = 100'000'000;
  adapter.on_step = [this](int64_t step) -> Result<double> {
    clock.now_ns += step % 2 == 0 ? 1'000'000 : 9'000'000;
    return 1.0;
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->converged);
  EXPECT_EQ(result->wall_ns, 100'000'000);
}

TEST_F(TimedLoopTest, EndsAStopRuleEarlyOnceTheLossIsLost) {
  options.budget = Budget{};
  adapter.on_step = [this](int64_t) -> Result<double> {
    clock.now_ns += 1'000'000;
    return std::numeric_limits<double>::quiet_NaN();
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->converged);
  EXPECT_EQ(result->steps, options.budget.warmup_steps + options.budget.min_steps);
  EXPECT_TRUE(std::isnan(lines.back().loss.back()));
}

TEST_F(TimedLoopTest, MakesAFixedNumberOfStepsEvenWithAnInfiniteLoss) {
  adapter.on_step = [this](int64_t) -> Result<double> {
    clock.now_ns += 1;
    return std::numeric_limits<double>::infinity();
  };
  EXPECT_EQ(Run()->steps, 5);
}

TEST_F(TimedLoopTest, FinishesTheStepAndFlushesWhenItIsStopped) {
  StopSource stop;
  options.stop = stop.token();
  adapter.on_step = [&](int64_t step) -> Result<double> {
    clock.now_ns += 5;
    if (step == 3) stop.RequestStop();
    return 1.0;
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->steps, 4);
  EXPECT_EQ(lines.back().step_ns.size(), 2u);
}

TEST_F(TimedLoopTest, PassesAStepsFailureOn) {
  adapter.on_step = [](int64_t step) -> Result<double> {
    if (step == 4) return Failed("kernel 7 went wrong");
    return 1.0;
  };
  const auto result = Run();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "kernel 7 went wrong");
}

TEST_F(TimedLoopTest, EndsWhenNobodyTakesItsLines) {
  const auto result =
      RunTimedLoop(adapter, options, [](const Steps&) -> Status { return Failed("gone"); });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(adapter.steps, 2);
}

// Its helper is first this process, which has already used much CPU time, and is gone before the
// last step.
class LosesItsHelper final : public FakeAdapter {
 public:
  pid_t Helper() const override { return steps < 4 ? getpid() : 0; }
};

TEST_F(TimedLoopTest, CountsTheTimeOfAHelperThatIsReplaced) {
  LosesItsHelper losing;
  volatile double busy = 0;
  while (CpuNs(getpid()) < 5'000'000) busy = busy + 1;
  const auto result = RunTimedLoop(losing, options, [](const Steps&) { return Ok(); });
  ASSERT_TRUE(result.ok());
  EXPECT_GE(result->cpu_ns, 0);
}

// States the time of a step by a clock of its own, except of the first step.
class StampedAdapter final : public FakeAdapter {
 public:
  Result<double> Step(Phase phase) override {
    last_ns = steps_made++ == 0 ? std::nullopt : std::optional<int64_t>(700);
    return FakeAdapter::Step(phase);
  }
  std::optional<int64_t> LastStepNs() const override { return last_ns; }

 private:
  int64_t steps_made = 0;
  std::optional<int64_t> last_ns;
};

TEST_F(TimedLoopTest, AFrameworksOwnClockReplacesTheDurationOfTheCall) {
  StampedAdapter stamped;
  stamped.on_step = adapter.on_step;
  options.budget.warmup_steps = 0;
  const auto result = RunTimedLoop(stamped, options, [this](const Steps& steps) -> Status {
    lines.push_back(steps);
    return Ok();
  });
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0].step_ns, ElementsAre(1'000'000, 700, 700));
}

TEST_F(TimedLoopTest, MakesSlicesOnRequestEachAfterItsWarmUp) {
  options.budget.fixed_steps = 5;
  std::vector<Turn> turns = {{1, 3}, {2, 2}};
  size_t next = 0;
  options.next_turn = [&]() -> Result<std::optional<Turn>> {
    clock.now_ns += 700'000'000;  // the pause
    if (next == turns.size()) return std::optional<Turn>();
    return std::optional(turns[next++]);
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[0].warmup);
  EXPECT_TRUE(lines[1].warmup);
  EXPECT_THAT(lines[2].loss, ElementsAre(1.5, 2, 2.5));
  EXPECT_FALSE(lines[2].warmup);
  EXPECT_EQ(lines[3].step_ns.size(), 2u);
  EXPECT_THAT(lines[4].loss, ElementsAre(4, 4.5));
  EXPECT_EQ(lines[4].first, 8);
  EXPECT_EQ(result->steps, 10);
  EXPECT_EQ(result->wall_ns, 5'000'000) << "without pauses and warm-up";
  EXPECT_TRUE(result->converged);
}

TEST_F(TimedLoopTest, AnEndOfTurnsBeforeTheLastStepIsNotConverged) {
  bool first = true;
  options.next_turn = [&]() -> Result<std::optional<Turn>> {
    return std::exchange(first, false) ? std::optional(Turn{1, 2}) : std::nullopt;
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->steps, 5);
  EXPECT_FALSE(result->converged);
}

// The step of each evaluation, and the lines that were sent before it.
struct Evaluations {
  std::vector<int64_t> at;
  std::vector<size_t> lines_before;
};

TEST_F(TimedLoopTest, EvaluatesBeforeTheFirstStepAtIntervalsAndAfterTheLast) {
  Evaluations evaluations;
  options.evaluate_every = 2;
  options.evaluate = [&](int64_t steps) -> Result<bool> {
    clock.now_ns += 50'000'000;
    evaluations.at.push_back(steps);
    evaluations.lines_before.push_back(lines.size());
    return false;
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(evaluations.at, ElementsAre(0, 2, 4, 5));
  // The steps that an evaluation follows are sent before it, and its time is in no step.
  EXPECT_THAT(evaluations.lines_before, ElementsAre(0, 1, 2, 3));
  for (const Steps& line : lines) EXPECT_THAT(line.step_ns, Each(1'000'000));
}

TEST_F(TimedLoopTest, EndsAtTheFirstEvaluationThatReachesTheTarget) {
  options.budget.fixed_steps = 100;
  options.evaluate_every = 3;
  int64_t evaluated = 0;
  options.evaluate = [&](int64_t steps) -> Result<bool> {
    ++evaluated;
    return steps >= 5;
  };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->steps, 6);
  EXPECT_TRUE(result->converged);
  EXPECT_FALSE(result->stopped);
  EXPECT_EQ(evaluated, 3);
}

TEST_F(TimedLoopTest, ATargetThatTheWarmUpReachesLeavesTimedSteps) {
  options.budget.fixed_steps = 100;
  options.evaluate_every = 1;
  options.evaluate = [](int64_t) -> Result<bool> { return true; };
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->steps, 3);
}

TEST_F(TimedLoopTest, AFailedEvaluationIsTheLoopsError) {
  options.evaluate = [](int64_t) -> Result<bool> { return Failed("0007.jpg: cut off"); };
  EXPECT_EQ(Run().error().message, "0007.jpg: cut off");
}

TEST_F(TimedLoopTest, TheIntervalsOfTheFirstTimedStepsAreKeptForATrace) {
  options.traced_steps = 2;
  const auto result = Run();
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->traced.size(), 2u);
  EXPECT_EQ(result->traced[0].start_ns, 1000 + 2 * step_ns) << "after the warm-up";
  EXPECT_EQ(result->traced[0].end_ns - result->traced[0].start_ns, step_ns);
  EXPECT_EQ(result->traced[1].start_ns, result->traced[0].end_ns);
}

TEST_F(TimedLoopTest, WhatRunsBeforeAStepIsOffTheClock) {
  int64_t calls = 0;
  options.before_step = [&] {
    ++calls;
    clock.now_ns += 500'000'000;
  };
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(calls, 5) << "warm-up steps included";
  for (const Steps& line : lines) EXPECT_THAT(line.step_ns, Each(step_ns));
}

}  // namespace
}  // namespace tench::timed_loop_test
