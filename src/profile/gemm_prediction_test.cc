// SPDX-License-Identifier: Apache-2.0
#include "profile/gemm_prediction.h"

#include <gtest/gtest.h>

#include "net/zoo/zoo.h"

namespace tench::gemm_prediction_test {
namespace {

TypedGraph Network(const char* name, int64_t batch) {
  const InputSpec imagenet{"imagenet", 3, 227, 227, 0, 0, 1000};
  return *Infer(*(*FindNetwork(name))->build(imagenet), batch);
}

// reference/ufsm-2017-sgemm.csv: Caffe's plain calls, each kind over both tile sizes.
TEST(GemmPredictionTest, AlexNetAtBatch512In20IterationsIsTheTableOfTheThesis) {
  const GemmCounts counts = *PredictCaffeGemms(Network("alexnet", 512), 21, 20, BlasPath::kGpu);
  EXPECT_EQ(counts.nn, 75264 + 10812);
  EXPECT_EQ(counts.nt, 71680 + 60);
  EXPECT_EQ(counts.tn, 71701 + 10282);
}

TEST(GemmPredictionTest, TheCpuExchangesTheTransposedKindsAndAddsBiases) {
  const TypedGraph alexnet = Network("alexnet", 2);
  const GemmCounts gpu = *PredictCaffeGemms(alexnet, 1, 1, BlasPath::kGpu);
  const GemmCounts cpu = *PredictCaffeGemms(alexnet, 1, 1, BlasPath::kCpu);
  EXPECT_EQ(cpu.nn, 8 * 2 + 3);
  EXPECT_EQ(cpu.nt, 8 * 2 + 3);
  EXPECT_EQ(cpu.tn, 7 * 2 + 3);
  EXPECT_EQ(cpu.nt, gpu.tn);
  EXPECT_EQ(cpu.tn, gpu.nt);
  EXPECT_EQ(cpu.bias, 5 * 2 + 3);
}

// The heading that this table once had: no number of iterations of the study explains its counts.
TEST(GemmPredictionTest, GoogLeNetAtBatch128IsNotTheTableOfTheThesis) {
  const TypedGraph googlenet = Network("googlenet", 128);
  for (int64_t iterations = 1; iterations <= 80; ++iterations) {
    const GemmCounts counts =
        *PredictCaffeGemms(googlenet, iterations + 1, iterations, BlasPath::kGpu);
    EXPECT_NE(counts.nn, 75264 + 10812) << iterations;
  }
}

TEST(GemmPredictionTest, ARecurrentNetworkIsUnsupported) {
  const InputSpec imdb{"imdb", 0, 0, 0, 1000, 8, 2};
  const TypedGraph lstm = *Infer(*(*FindNetwork("lstm"))->build(imdb), 2);
  const auto counts = PredictCaffeGemms(lstm, 1, 1, BlasPath::kCpu);
  ASSERT_FALSE(counts.ok());
  EXPECT_EQ(counts.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace tench::gemm_prediction_test
