// SPDX-License-Identifier: Apache-2.0
#include "logs/glog_line.h"

#include <gtest/gtest.h>

namespace tench::glog_line_test {
namespace {

TEST(GlogLineTest, ReadsBothFormsOfTheDate) {
  const auto with_year =
      ParseGlogLine("I20261115 23:02:19.619979 29467 solver.cpp:239] Iteration 0, lr = 0.01");
  ASSERT_TRUE(with_year);
  EXPECT_EQ(with_year->time, (GlogTime{2026, 11, 15, 82'939'619'979}));
  EXPECT_EQ(with_year->source, "solver.cpp:239");
  EXPECT_EQ(with_year->message, "Iteration 0, lr = 0.01");
  const auto without = ParseGlogLine("F1115 23:02:19.619979   467 math.cu:28] Check failed: [a] b");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->severity, 'F');
  EXPECT_EQ(without->time, (GlogTime{0, 11, 15, 82'939'619'979}));
  EXPECT_EQ(without->message, "Check failed: [a] b");
}

TEST(GlogLineTest, KeepsTheSpacesOfAMessageAndAllowsAnEmptyOne) {
  EXPECT_EQ(ParseGlogLine("I1115 23:02:19.619979 9 solver.cpp:258]     Train net")->message,
            "    Train net");
  EXPECT_EQ(ParseGlogLine("I1115 23:02:19.619979 9 solver.cpp:258]")->message, "");
}

TEST(GlogLineTest, RefusesWhatOnlyLooksLikeALine) {
  for (const char* line :
       {"", "I", "layer {", "Iteration 0, loss = 1", "I115 23:02:19.619979 9 a.cc:1] x",
        "I1315 23:02:19.619979 9 a.cc:1] x", "I1115 23:02:19.61997 9 a.cc:1] x",
        "I1115 24:02:19.619979 9 a.cc:1] x", "I1115 23:02:19.619979 9 no bracket",
        "I1115 23:02:19.619979 x a.cc:1] y", "I1115 23:02:19.619979"}) {
    EXPECT_FALSE(ParseGlogLine(line)) << line;
  }
}

TEST(GlogLineTest, CountsAcrossMidnightAndNewYear) {
  const auto at = [](int year, int month, int day, int64_t us) {
    return GlogTime{year, month, day, us};
  };
  constexpr int64_t kDay = 86'400'000'000;
  EXPECT_EQ(ElapsedUs(at(0, 11, 15, kDay - 5), at(0, 11, 16, 7)), 12);
  EXPECT_EQ(ElapsedUs(at(0, 12, 31, kDay - 1), at(0, 1, 1, 0)), 1);
  EXPECT_EQ(ElapsedUs(at(2026, 12, 31, 0), at(2027, 1, 1, 0)), kDay);
  EXPECT_EQ(ElapsedUs(at(2024, 2, 28, 0), at(2024, 3, 1, 0)), 2 * kDay);
  EXPECT_EQ(ElapsedUs(at(2025, 2, 28, 0), at(2025, 3, 1, 0)), kDay);
  EXPECT_EQ(ElapsedUs(at(2025, 2, 28, 9), at(2025, 2, 28, 2)), -7);
}

}  // namespace
}  // namespace tench::glog_line_test
