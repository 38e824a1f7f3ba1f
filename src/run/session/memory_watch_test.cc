// SPDX-License-Identifier: Apache-2.0
#include "run/session/memory_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::memory_watch_test {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

Sample Holding(int64_t rss_bytes, int64_t swap_bytes = 0) {
  Sample sample;
  sample.processes = 1;
  sample.rss_bytes = rss_bytes;
  sample.swap_bytes = swap_bytes;
  return sample;
}

TEST(MemoryWatchTest, LeavesAReserveToTheMachine) {
  EXPECT_EQ(MemoryLimitBytes(0), 0);
  EXPECT_EQ(MemoryLimitBytes(256 * kGiB), 254 * kGiB);
  EXPECT_EQ(MemoryLimitBytes(16 * kGiB), 15 * kGiB);
  EXPECT_EQ(MemoryLimitBytes(kGiB), 768 * kMiB);
  EXPECT_EQ(MemoryLimitBytes(256 * kMiB), 128 * kMiB);
}

TEST(MemoryWatchTest, ResidentSetAndSwapTogetherMustStayBelowTheLimit) {
  MemoryWatch watch(100 * kMiB, SwapPolicy::kAllow, 0);
  EXPECT_FALSE(watch.Judge(Holding(60 * kMiB, 40 * kMiB)));
  const auto reason = watch.Judge(Holding(60 * kMiB, 41 * kMiB));
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, testing::HasSubstr("more than the limit"));
}

TEST(MemoryWatchTest, WithoutALimitNothingIsTooMuch) {
  MemoryWatch watch(0, SwapPolicy::kAllow, 0);
  EXPECT_FALSE(watch.Judge(Holding(1000 * kGiB)));
}

TEST(MemoryWatchTest, SwappingIsAFindingOrAReasonToEndAsAsked) {
  MemoryWatch allows(kGiB, SwapPolicy::kAllow, 0), kills(kGiB, SwapPolicy::kKill, 0);
  EXPECT_FALSE(kills.Judge(Holding(kMiB, kSwapNoiseBytes)));
  EXPECT_FALSE(kills.swapped());
  EXPECT_FALSE(allows.Judge(Holding(kMiB, 5 * kMiB)));
  EXPECT_TRUE(allows.swapped());
  EXPECT_TRUE(kills.Judge(Holding(kMiB, 5 * kMiB)));
}

TEST(MemoryWatchTest, AKillIsExplainedByTheKernelsCounterOrByTheLimitBeingNear) {
  MemoryWatch watch(100 * kMiB, SwapPolicy::kAllow, 7);
  watch.Judge(Holding(50 * kMiB));
  EXPECT_FALSE(watch.ExplainKill(7));
  EXPECT_TRUE(watch.ExplainKill(8));
  watch.Judge(Holding(95 * kMiB));
  EXPECT_TRUE(watch.ExplainKill(7));
}

TEST(MemoryWatchTest, ASampleOfATreeThatIsGoneChangesNothing) {
  MemoryWatch watch(100 * kMiB, SwapPolicy::kAllow, 0);
  watch.Judge(Holding(95 * kMiB));
  watch.Judge(Sample{});
  EXPECT_TRUE(watch.ExplainKill(0));
}

}  // namespace
}  // namespace tench::memory_watch_test
