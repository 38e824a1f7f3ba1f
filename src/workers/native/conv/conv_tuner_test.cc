// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "workers/native/conv/conv_trial.h"
#include "workers/native/kernels/parallel.h"

namespace {

// A machine on which a trial takes as long as a test wants: every reading of the monotonic clock by
// this thread is `step_ns` after the one before, and every reading of the resource usage has
// `preemptions` more involuntary context switches.
struct FakeTime {
  int64_t step_ns = 0, preemptions = 0;
  int64_t clock_readings = 0, usage_readings = 0;
};
constinit thread_local std::optional<FakeTime> fake_time;

}  // namespace

// These replace the C library's functions in this executable; without a FakeTime they ask the
// kernel as the originals do.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (!fake_time || clock != CLOCK_MONOTONIC)
    return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  const int64_t ns = ++fake_time->clock_readings * fake_time->step_ns;
  *now = {ns / 1'000'000'000, ns % 1'000'000'000};
  return 0;
}
extern "C" int getrusage(int who, rusage* usage) noexcept {
  if (!fake_time) return static_cast<int>(syscall(SYS_getrusage, who, usage));
  *usage = {};
  usage->ru_nivcsw = ++fake_time->usage_readings * fake_time->preemptions;
  return 0;
}

namespace tench::native {
namespace {

ConvShape Small(int64_t batch = 2) {
  return {batch,
          {batch, 16, 12, 12},
          {batch, 16, 12, 12},
          {16, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true}};
}

const std::string kKey = "forward " + Small().Key() + "_t2_f32";

struct ConvTunerTest : testing::Test {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  TemporaryFolder folder = *TemporaryFolder::Make("tench-conv-tuner");

  ConvTunerTest() {
    omp_set_num_threads(2);
    dnnl::set_primitive_cache_capacity(0);
  }
  TunerCache Cache() const { return {folder.path(), "machine"}; }
  std::vector<ConvCandidate> Forward() const {
    return ListConvCandidates(Small(), ConvDirection::kForward, Md(), engine);
  }
};

TEST_F(ConvTunerTest, TheTrialTimesEveryCandidate) {
  const std::vector<ConvCandidate> candidates = Forward();
  const ConvShape shape = Small();
  const std::vector<ConvTrial::Time> times =
      ConvTrial(shape, ConvDirection::kForward, candidates, Md(), engine).Run();
  ASSERT_EQ(times.size(), candidates.size());
  for (const ConvTrial::Time& time : times) {
    EXPECT_GT(time.ns, 0);
    EXPECT_LT(time.ns, int64_t{10'000'000'000});
  }
}

TEST_F(ConvTunerTest, TheTrialFindsASlowCandidateSlow) {
  std::vector<ConvCandidate> candidates = {Forward()[0], Forward()[0]};
  ASSERT_TRUE(candidates[0].make || candidates[0].run);
  int calls = 0;
  volatile double sink = 0;
  candidates[0].run = [&](float*, float*, float*, float*, float*) {
    ++calls;
    for (int i = 0; i < 20'000'000; ++i) sink = sink + 1;
  };
  const ConvShape shape = Small();
  const std::vector<ConvTrial::Time> times =
      ConvTrial(shape, ConvDirection::kForward, candidates, Md(), engine).Run();
  EXPECT_GT(times[0].ns, times[1].ns);
  EXPECT_EQ(calls, 1) << "dropped after the first round";
}

TEST_F(ConvTunerTest, ATrialOfALongConvolutionUsesFewerImagesInWholeMultiplesOfTheThreads) {
  EXPECT_EQ(TrialShape(Small(), 2).batch, 2);
  ConvShape large{
      64, {64, 256, 56, 56}, {64, 256, 56, 56}, {256, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true}};
  const ConvShape part = TrialShape(large, 3);
  EXPECT_LT(part.batch, 64);
  EXPECT_EQ(part.batch % 3, 0);
  EXPECT_EQ(part.in, (Shape{part.batch, 256, 56, 56}));
  EXPECT_EQ(part.out[0], part.batch);
  // 3.7 GFLOP per image: one image per thread exceeds the budget already.
  EXPECT_EQ(part.batch, 3);
}

TEST_F(ConvTunerTest, OffSelectsOneDnnsDefaultWithoutATrial) {
  ConvTuner tuner(engine, TuneMode::kOff, 2, Cache());
  EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, "blocked/0");
  EXPECT_EQ(tuner.measured(), 0);
}

TEST_F(ConvTunerTest, CacheModeBelievesTheCacheAndMeasuresOtherwise) {
  TunerCache cache = Cache();
  cache.Remember(kKey, "channels_last/0");
  ConvTuner known(engine, TuneMode::kCache, 2, cache);
  EXPECT_EQ(known.Choose(Small(), ConvDirection::kForward, Md()).id, "channels_last/0");
  EXPECT_EQ(known.measured(), 0);

  ConvTuner unknown(engine, TuneMode::kCache, 2, Cache());
  const std::string winner = unknown.Choose(Small(), ConvDirection::kForward, Md()).id;
  EXPECT_GT(unknown.measured(), 1);
  ASSERT_TRUE(unknown.Save().ok());
  EXPECT_EQ(Cache().Find(kKey), winner);
}

TEST_F(ConvTunerTest, AnIdThatNoLongerExistsIsMeasuredAgain) {
  TunerCache cache = Cache();
  cache.Remember(kKey, "own/0");
  ConvTuner tuner(engine, TuneMode::kCache, 2, cache);
  EXPECT_NE(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, "own/0");
  EXPECT_GT(tuner.measured(), 1);
}

TEST_F(ConvTunerTest, FullModeMeasuresOnceWhateverTheCacheHas) {
  TunerCache cache = Cache();
  cache.Remember(kKey, "channels_last/0");
  ConvTuner tuner(engine, TuneMode::kFull, 2, cache);
  const std::string first = tuner.Choose(Small(), ConvDirection::kForward, Md()).id;
  const int64_t measured = tuner.measured();
  EXPECT_GT(measured, 1);
  EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, first);
  EXPECT_EQ(tuner.measured(), measured) << "a second layer of the same shape is not measured";
}

TEST_F(ConvTunerTest, KeysDifferByThreadsAndInference) {
  TunerCache cache = Cache();
  cache.Remember(kKey, "channels_last/0");
  ConvTuner one_thread(engine, TuneMode::kCache, 1, cache);
  (void)one_thread.Choose(Small(), ConvDirection::kForward, Md());
  EXPECT_GT(one_thread.measured(), 0);
  ConvTuner inference(engine, TuneMode::kCache, 2, cache);
  ConvShape shape = Small();
  shape.training = false;
  (void)inference.Choose(shape, ConvDirection::kForward, Md());
  EXPECT_GT(inference.measured(), 0);
}

// Tunes convolutions of different batch sizes, each for `trial_ns` of FakeTime.
class BudgetTest : public ConvTunerTest {
 protected:
  ~BudgetTest() override { fake_time.reset(); }

  // The number of trials before the tuner stops measuring, at most `limit`.
  int Trials(TuneMode mode, int64_t trial_ns, int64_t preemptions, int limit) {
    ConvTuner tuner(engine, mode, 2, TunerCache({}, "machine"));
    for (int trials = 0; trials < limit; ++trials) {
      const ConvShape shape = Small(trials + 1);
      fake_time = FakeTime{trial_ns / Readings(shape), preemptions};
      const int64_t before = tuner.measured();
      const std::string id = tuner.Choose(shape, ConvDirection::kForward, Md()).id;
      fake_time.reset();
      if (tuner.measured() > before) continue;
      EXPECT_EQ(id, ListConvCandidates(shape, ConvDirection::kForward, Md(), engine)[0].id)
          << "the default candidate, unmeasured";
      return trials;
    }
    return limit;
  }

 private:
  // The clock's readings in one trial of equally fast candidates: two per candidate and round, and
  // the last one of the tuner, whose first reading begins the time.
  int64_t Readings(const ConvShape& shape) const {
    constexpr int64_t kRounds = 5;
    std::vector<ConvCandidate> candidates =
        ListConvCandidates(shape, ConvDirection::kForward, Md(), engine);
    std::erase_if(candidates, IsPortable);
    return 2 * kRounds * static_cast<int64_t>(candidates.size()) + 1;
  }
};

TEST_F(BudgetTest, ABuildMeasuresUntilAMinuteIsSpent) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  EXPECT_EQ(Trials(TuneMode::kCache, 29 * kSecondNs, 0, 5), 3) << "58 s are not yet too many";
  EXPECT_EQ(Trials(TuneMode::kCache, 31 * kSecondNs, 0, 5), 2) << "62 s are";
}

TEST_F(BudgetTest, OnABusyMachineTwentySecondsAreEnough) {
  constexpr int64_t kSecondNs = 1'000'000'000, kBusy = 1'000'000'000;
  EXPECT_EQ(Trials(TuneMode::kCache, 6 * kSecondNs, kBusy, 6), 4) << "18 s are not, 24 s are";
  EXPECT_EQ(Trials(TuneMode::kCache, 11 * kSecondNs, kBusy, 6), 3)
      << "two disturbed trials of 22 s do not make a machine busy, three do";
  EXPECT_EQ(Trials(TuneMode::kCache, 11 * kSecondNs, 1, 6), 6) << "a usual preemption";
}

TEST_F(BudgetTest, FullTuningHasNoBudget) {
  EXPECT_EQ(Trials(TuneMode::kFull, int64_t{3600} * 1'000'000'000, 0, 3), 3);
}

TEST_F(ConvTunerTest, ForceSelectsByIndexModuloTheirNumber) {
  const std::vector<ConvCandidate> candidates = Forward();
  ConvTuner tuner(engine, TuneMode::kCache, 2, Cache());
  EXPECT_EQ(tuner.forced(), -1);
  for (size_t i = 0; i < candidates.size() + 1; ++i) {
    tuner.Force(i);
    EXPECT_EQ(tuner.forced(), static_cast<int64_t>(i));
    EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id,
              candidates[i % candidates.size()].id);
  }
  EXPECT_EQ(tuner.measured(), 0);
}

}  // namespace
}  // namespace tench::native
