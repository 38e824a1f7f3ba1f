// SPDX-License-Identifier: Apache-2.0
#include "stats/counted_attempt.h"

#include <gtest/gtest.h>

#include <vector>

namespace tench {
namespace {

constexpr Attempt Calm(int64_t number) { return {number, false, false}; }
constexpr Attempt Disturbed(int64_t number) { return {number, false, true}; }
constexpr Attempt Slow(int64_t number) { return {number, true, true}; }

size_t Counted(const std::vector<Attempt>& attempts) { return CountedAttempt(attempts); }

TEST(CountedAttemptTest, TheLastUndisturbedOneCounts) {
  EXPECT_EQ(Counted({Calm(0), Calm(1), Disturbed(2)}), 1u);
  EXPECT_EQ(Counted({Slow(0), Calm(1), Slow(2)}), 1u);
}

TEST(CountedAttemptTest, OtherwiseTheLastThatWasNotSlow) {
  EXPECT_EQ(Counted({Disturbed(0), Disturbed(1), Slow(2)}), 1u);
}

TEST(CountedAttemptTest, OtherwiseTheLast) { EXPECT_EQ(Counted({Slow(0), Slow(1)}), 1u); }

TEST(CountedAttemptTest, TheOrderIsThatOfTheNumbersNotOfTheList) {
  EXPECT_EQ(Counted({Calm(1), Calm(0)}), 0u);
}

}  // namespace
}  // namespace tench
