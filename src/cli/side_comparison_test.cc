// SPDX-License-Identifier: Apache-2.0
#include "cli/side_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "report/test_ranking.h"

namespace tench::side_comparison_test {
namespace {

using testing::HasSubstr;

class SideComparisonTest : public testing::Test {
 protected:
  // Five rounds of two workers: `b` takes 10 % longer by the shortest step, twice as long by the
  // median.
  void SetUp() override {
    for (const std::string& database : {database_, other_}) {
      Store store = *Store::Open(database, Store::Mode::kReadWrite);
      ASSERT_TRUE(store.InOneTransaction([&] { return AddStudy(store); }).ok());
    }
  }

  Status AddStudy(Store& store) {
    const int64_t study = TENCH_TRY(store.AddStudy(TestStudy()));
    for (int64_t round = 0; round < 5; ++round) {
      for (const bool slow : {false, true}) {
        RunRecord run = TimedRun(slow ? "b" : "a", slow ? 11e6 : 10e6);
        if (slow) run.summary.step_ns_median = 20e6;
        run.study = study;
        run.round = round;
        TENCH_TRY(store.AddRun(run, {}));
      }
    }
    return Ok();
  }

  SideRequest Request(const std::string& a, const std::string& b) {
    SideRequest request;
    request.a = a;
    request.b = b;
    request.database = database_;
    return request;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-sides-");
  const std::string database_ = (folder_.path() / "r.db").string(),
                    other_ = (folder_.path() / "other.db").string();
};

TEST_F(SideComparisonTest, ARatioWithinTheMarginIsTheSame) {
  SideRequest request = Request("a", "b");
  EXPECT_EQ(CompareSides(request)->Count(RatioVerdict::kSlower), 1);
  request.margin = 0.2;
  EXPECT_EQ(CompareSides(request)->Count(RatioVerdict::kSame), 1);
  request.time = StepTime::kMedian;
  EXPECT_EQ(CompareSides(request)->Count(RatioVerdict::kSlower), 1);
}

TEST_F(SideComparisonTest, OnlyOneFileIsInterleaved) {
  EXPECT_TRUE(CompareSides(Request("a", "b"))->interleaved());
  EXPECT_FALSE(CompareSides(Request("a", other_ + ";b"))->interleaved());
}

TEST_F(SideComparisonTest, AFilterOrASideWithoutARunIsAnError) {
  SideRequest request = Request("a", "b");
  request.only = {"batch=7"};
  EXPECT_THAT(CompareSides(request).error().message, HasSubstr("A: no run of"));
  EXPECT_THAT(CompareSides(Request("a", "a")).error().message, HasSubstr("are the same"));
}

TEST(ParseMarginTest, IsAShareOrAPercentage) {
  EXPECT_EQ(*ParseMargin("0.02"), 0.02);
  EXPECT_EQ(*ParseMargin("2%"), 0.02);
  EXPECT_EQ(*ParseMargin("2 %"), 0.02);
  EXPECT_EQ(*ParseMargin("0"), 0);
  for (const char* text : {"1", "100%", "-1%", "x", ""})
    EXPECT_THAT(ParseMargin(text).error().message, HasSubstr("--margin")) << text;
}

}  // namespace
}  // namespace tench::side_comparison_test
