// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/arena_plan.h"

#include <gtest/gtest.h>

#include "net/fill.h"

namespace tench::native::arena_plan_test {
namespace {

void ExpectNoOverlap(const std::vector<Lifetime>& lives, const ArenaPlan& plan) {
  for (size_t a = 0; a < lives.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0);
    EXPECT_LE(plan.offsets[a] + lives[a].bytes, plan.bytes);
    for (size_t b = a + 1; b < lives.size(); ++b) {
      const bool same_time = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
      const bool same_bytes = plan.offsets[a] < plan.offsets[b] + lives[b].bytes &&
                              plan.offsets[b] < plan.offsets[a] + lives[a].bytes;
      EXPECT_FALSE(same_time && same_bytes && lives[a].bytes > 0 && lives[b].bytes > 0)
          << a << " and " << b;
    }
  }
}

TEST(ArenaPlanTest, BuffersOfDifferentTimesShareBytes) {
  const std::vector<Lifetime> lives = {{1000, 0, 1}, {1000, 2, 3}, {1000, 4, 5}};
  const ArenaPlan plan = PlanArena(lives);
  EXPECT_EQ(plan.bytes, 1024);
  ExpectNoOverlap(lives, plan);
}

TEST(ArenaPlanTest, BuffersThatMeetAtOneStepDoNotShare) {
  const std::vector<Lifetime> lives = {{64, 0, 1}, {64, 1, 2}};
  const ArenaPlan plan = PlanArena(lives);
  EXPECT_EQ(plan.bytes, 128);
  ExpectNoOverlap(lives, plan);
}

TEST(ArenaPlanTest, FillsAGapBetweenTwoLongLives) {
  const std::vector<Lifetime> lives = {{640, 0, 9}, {64, 0, 2}, {64, 3, 9}, {640, 0, 9}};
  EXPECT_EQ(PlanArena(lives).bytes, 640 + 640 + 64);
}

TEST(ArenaPlanTest, LiveBytesIsThePeakOfAlignedBytes) {
  EXPECT_EQ(LiveBytes({}), 0);
  // Step 2 has the first two (64 + 128), step 5 the last alone.
  EXPECT_EQ(LiveBytes(std::vector<Lifetime>{{1, 0, 2}, {65, 2, 3}, {100, 5, 5}}), 192);
  EXPECT_EQ(LiveBytes(std::vector<Lifetime>{{64, 0, 1}, {64, 2, 3}}), 64);
}

TEST(ArenaPlanTest, NothingNeedsNothing) {
  EXPECT_EQ(PlanArena({}).bytes, 0);
  EXPECT_EQ(PlanArena(std::vector<Lifetime>{{0, 0, 5}}).bytes, 0);
}

TEST(ArenaPlanTest, RandomLivesNeverOverlapAndStayNearTheLowerBound) {
  const Generator random(7, "lives");
  std::vector<Lifetime> lives;
  for (uint64_t i = 0; i < 300; ++i) {
    const int64_t first = random.Integer(3 * i, 0, 500);
    lives.push_back(
        {random.Integer(3 * i + 1, 1, 100'000), first, first + random.Integer(3 * i + 2, 0, 60)});
  }
  const ArenaPlan plan = PlanArena(lives);
  ExpectNoOverlap(lives, plan);
  EXPECT_GE(plan.bytes, LiveBytes(lives));
  EXPECT_LE(plan.bytes, LiveBytes(lives) * 5 / 4);
}

}  // namespace
}  // namespace tench::native::arena_plan_test
