// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

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

namespace tench::native::conv_tuner_test {
namespace {

ConvShape Small(int64_t batch = 2) {
  return {batch,
          {batch, 16, 12, 12},
          {batch, 16, 12, 12},
          {16, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true}};
}

const std::string kKey = "f_" + Small().Key();

struct ConvTunerTest : testing::Test {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};

  ConvTunerTest() {
    omp_set_num_threads(2);
    dnnl::set_primitive_cache_capacity(0);
  }
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

TEST_F(ConvTunerTest, TheDefaultIsTheFirstOfTheStaticOrderWithoutATrial) {
  ConvTuner tuner(engine, 2, {});
  EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, Forward().front().id);
  ConvTuner blocked(engine, 2, {.mode = TuneMode::kBlocked});
  EXPECT_EQ(blocked.Choose(Small(), ConvDirection::kForward, Md()).id, "blocked/0");
  for (const ConvTuner* each : {&tuner, &blocked}) {
    EXPECT_EQ(each->measured(), 0);
    EXPECT_TRUE(each->selection().empty());
  }
}

TEST_F(ConvTunerTest, ASearchMeasuresEachShapeAndDirectionOnce) {
  ConvTuner tuner(engine, 2, {.mode = TuneMode::kSearch});
  const std::string first = tuner.Choose(Small(), ConvDirection::kForward, Md()).id;
  const int64_t measured = tuner.measured();
  EXPECT_GT(measured, 1);
  EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, first);
  EXPECT_EQ(tuner.measured(), measured) << "a second layer of the same shape is not measured";
  EXPECT_EQ(tuner.selection(), (ConvSelection{{kKey, first}}));
}

TEST_F(ConvTunerTest, ASelectionIsRepeatedWithoutATrialAndOtherShapesAreStatic) {
  ConvTuner tuner(engine, 2, {.mode = TuneMode::kFixed, .selection = {{kKey, "channels_last/0"}}});
  EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id, "channels_last/0");
  ConvTuner plain(engine, 2, {});
  EXPECT_EQ(tuner.Choose(Small(4), ConvDirection::kForward, Md()).id,
            plain.Choose(Small(4), ConvDirection::kForward, Md()).id);
  EXPECT_EQ(tuner.measured(), 0);
  EXPECT_TRUE(tuner.problem().ok());
}

TEST_F(ConvTunerTest, ACandidateThatNoLongerExistsIsAProblem) {
  ConvTuner tuner(engine, 2, {.mode = TuneMode::kFixed, .selection = {{kKey, "own/0"}}});
  tuner.Choose(Small(), ConvDirection::kForward, Md());
  ASSERT_FALSE(tuner.problem().ok());
  EXPECT_EQ(tuner.problem().error().message,
            "option convolutions: " + kKey + " has no candidate 'own/0' in this build");
}

TEST_F(ConvTunerTest, ASelectionIsTheSameAfterPrintingAndParsing) {
  const ConvSelection selection = {{kKey, "direct/2"}, {"w_n1", "blocked/0"}};
  EXPECT_EQ(*ParseConvSelection(PrintConvSelection(selection)), selection);
  for (const char* bad : {"", "perhaps", "a=", "=b", "a=b;", "a=b;a=c"})
    EXPECT_FALSE(ParseConvSelection(bad).ok()) << bad;
}

TEST_F(ConvTunerTest, TheBudgetEndsTheSearch) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  constexpr int64_t kReadings = 1000;  // more than one trial makes
  ConvTuner tuner(engine, 2, {.mode = TuneMode::kSearch, .budget_ns = 3 * kSecondNs});
  fake_time = FakeTime{.step_ns = 4 * kSecondNs / kReadings, .preemptions = 0};
  ConvTuner plain(engine, 2, {});
  int shapes = 0;
  for (int64_t batch = 1; batch <= 40; ++batch) {
    const int64_t before = tuner.measured();
    const std::string id = tuner.Choose(Small(batch), ConvDirection::kForward, Md()).id;
    if (tuner.measured() > before) {
      ++shapes;
    } else {
      EXPECT_EQ(id, plain.Choose(Small(batch), ConvDirection::kForward, Md()).id);
    }
  }
  fake_time.reset();
  EXPECT_GE(shapes, 1);
  EXPECT_LT(shapes, 40);
  EXPECT_EQ(tuner.selection().size(), static_cast<size_t>(shapes))
      << "shapes that were not measured stay static in every later build";
}

TEST_F(ConvTunerTest, ForceSelectsByIndexModuloTheirNumber) {
  const std::vector<ConvCandidate> candidates = Forward();
  ConvTuner tuner(engine, 2, {});
  EXPECT_EQ(tuner.forced(), -1);
  for (size_t i = 0; i < 2 * candidates.size(); ++i) {
    tuner.Force(i);
    EXPECT_EQ(tuner.forced(), static_cast<int64_t>(i));
    EXPECT_EQ(tuner.Choose(Small(), ConvDirection::kForward, Md()).id,
              candidates[i % candidates.size()].id);
  }
  EXPECT_EQ(tuner.measured(), 0);
}

TEST_F(ConvTunerTest, AnAlgorithmSelectsTheFirstCandidateOfItWhereThereIsOne) {
  for (const std::string algorithm : {"direct", "gemm", "winograd"}) {
    ConvTuner::Settings settings;
    settings.algorithm = algorithm;
    ConvTuner tuner(engine, 1, settings);
    const auto all = ListConvCandidates(Small(), ConvDirection::kForward, {}, engine);
    const bool exists = std::any_of(all.begin(), all.end(), [&](const ConvCandidate& one) {
      return AlgorithmOf(one) == algorithm && !IsPortable(one);
    });
    const ConvCandidate chosen = tuner.Choose(Small(), ConvDirection::kForward, {});
    EXPECT_EQ(AlgorithmOf(chosen) == algorithm, exists || AlgorithmOf(all.front()) == algorithm);
    EXPECT_EQ(tuner.chosen(), 1);
    EXPECT_EQ(tuner.obeyed(), exists ? 1 : 0) << algorithm;
    EXPECT_EQ(tuner.measured(), 0);
  }
}

TEST_F(ConvTunerTest, ImplementationsNameTheirAlgorithm) {
  const auto of = [](const char* id, const char* implementation) {
    ConvCandidate candidate;
    candidate.id = id;
    candidate.implementation = implementation;
    return AlgorithmOf(candidate);
  };
  EXPECT_EQ(of("blocked/0", "jit:avx2"), "direct");
  EXPECT_EQ(of("blocked/0", "brgconv:avx512_core"), "direct");
  EXPECT_EQ(of("blocked/0", "brgemm_conv:avx512_core"), "direct");
  EXPECT_EQ(of("channels_last/2", "x64:gemm:jit"), "gemm");
  EXPECT_EQ(of("winograd/0", "F(4x4,3x3)"), "winograd");
  EXPECT_EQ(of("blocked/1", "jit_wino:avx512_core"), "winograd");
  EXPECT_EQ(of("direct/0", "direct_weights"), "direct");
}

}  // namespace
}  // namespace tench::native::conv_tuner_test
