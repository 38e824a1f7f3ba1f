// SPDX-License-Identifier: Apache-2.0
#include "report/latency.h"

#include <gtest/gtest.h>

#include <numeric>

#include "store/test_run.h"

namespace tench::latency_test {
namespace {

std::vector<double> Steps(size_t count) {
  std::vector<double> steps(count);
  std::iota(steps.rbegin(), steps.rend(), 1.0);
  return steps;
}

TEST(LatencyTest, IsAskedForInferenceOfOneImage) {
  Cell cell = TestCell("torch", "lenet", 1);
  EXPECT_FALSE(HasLatency(cell)) << "training";
  cell.values[kAxisPhase] = std::string("forward");
  EXPECT_TRUE(HasLatency(cell));
  cell.values[kAxisBatch] = int64_t{2};
  EXPECT_FALSE(HasLatency(cell));
}

TEST(LatencyTest, QuantilesNeedEnoughSteps) {
  EXPECT_FALSE(LatencyOf({}));
  const Latency few = *LatencyOf(Steps(9));
  EXPECT_EQ(few.p50_ns, 5);
  EXPECT_FALSE(few.p90_ns);
  const Latency some = *LatencyOf(Steps(11));
  EXPECT_EQ(some.p90_ns, 10);
  EXPECT_FALSE(some.p99_ns);
  const Latency many = *LatencyOf(Steps(101));
  EXPECT_EQ(many.steps, 101);
  EXPECT_EQ(many.p50_ns, 51);
  EXPECT_EQ(many.p90_ns, 91);
  EXPECT_EQ(many.p99_ns, 100);
}

}  // namespace
}  // namespace tench::latency_test
