// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "workers/native/conv/conv_trial.h"
#include "workers/native/kernels/parallel.h"

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
