// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/matrix.h"

namespace tench::cell_filter_test {
namespace {

using ::testing::HasSubstr;

Cell MakeCell(const std::vector<std::pair<std::string, std::string>>& values) {
  Cell cell;
  for (const auto& [name, text] : values) EXPECT_TRUE(cell.Set(name, text).ok()) << name;
  return cell;
}

CellFilter Parse(const std::vector<std::string>& texts) {
  Result<CellFilter> filter = ParseFilter(texts);
  EXPECT_TRUE(filter.ok()) << filter.error().message;
  return filter.ok() ? *std::move(filter) : CellFilter();
}

std::string ErrorOf(const std::string& text) {
  const Result<CellFilter> filter = ParseFilter(std::vector<std::string>{text});
  return filter.ok() ? "no error" : filter.error().message;
}

TEST(CellFilterTest, WithoutTermsEveryCellMatches) { EXPECT_TRUE(Parse({}).Matches(Cell())); }

TEST(CellFilterTest, AnyValueOfATermAndAllTermsMustMatch) {
  const Cell cell = MakeCell({{"worker", "torch"}, {"network", "lenet"}, {"batch", "16"}});
  EXPECT_TRUE(Parse({"batch=8,16"}).Matches(cell));
  EXPECT_FALSE(Parse({"batch=8,32"}).Matches(cell));
  EXPECT_TRUE(Parse({"batch=8,16;worker=torch"}).Matches(cell));
  EXPECT_FALSE(Parse({"batch=16;worker=native"}).Matches(cell));
  EXPECT_TRUE(Parse({"batch=16", "worker=native,torch"}).Matches(cell));
  EXPECT_TRUE(Parse({"batch=16,worker=torch"}).Matches(cell));
  EXPECT_FALSE(Parse({"batch=16,worker=native"}).Matches(cell));
  EXPECT_TRUE(Parse({"phase=train"}).Matches(cell));
}

TEST(CellFilterTest, RepeatedAxesAddTheirValues) {
  const CellFilter filter = Parse({"batch=8", "batch=16", "batch=8"});
  ASSERT_EQ(filter.terms.size(), 1u);
  EXPECT_THAT(filter.terms[0].second, testing::ElementsAre("8", "16"));
  EXPECT_TRUE(filter.Matches(MakeCell({{"batch", "16"}})));
}

TEST(CellFilterTest, ComparesValuesAndNotSpellings) {
  EXPECT_TRUE(Parse({"batch=016"}).Matches(MakeCell({{"batch", "16"}})));
  EXPECT_TRUE(Parse({"lr=1e-1"}).Matches(MakeCell({{"lr", "0.1"}})));
  EXPECT_TRUE(Parse({" batch = 16 , 8 "}).Matches(MakeCell({{"batch", "8"}})));
}

TEST(CellFilterTest, AWorkerWithoutAVersionStandsForAllOfThem) {
  const Cell cell = MakeCell({{"worker", "torch@2.1"}});
  EXPECT_TRUE(Parse({"worker=torch"}).Matches(cell));
  EXPECT_TRUE(Parse({"worker=torch@2.1"}).Matches(cell));
  EXPECT_FALSE(Parse({"worker=torch@2"}).Matches(cell));
  EXPECT_FALSE(Parse({"worker=torch@2.1"}).Matches(MakeCell({{"worker", "torch"}})));
}

TEST(CellFilterTest, FiltersOptions) {
  const Cell cell = MakeCell({{"option.layout", "nhwc"}});
  EXPECT_TRUE(Parse({"option.layout=nchw,nhwc"}).Matches(cell));
  EXPECT_FALSE(Parse({"option.layout=nchw"}).Matches(cell));
  EXPECT_FALSE(Parse({"option.layout=nhwc"}).Matches(Cell()));
}

TEST(CellFilterTest, RefusesWhatItCannotMean) {
  EXPECT_EQ(ErrorOf("bacth=16"), "unknown axis 'bacth'; did you mean 'batch'?");
  EXPECT_THAT(ErrorOf("batch=0"), HasSubstr("batch: '0' is not an integer"));
  EXPECT_THAT(ErrorOf("batch=16,"), HasSubstr("batch: '' is not an integer"));
  EXPECT_THAT(ErrorOf("16"), HasSubstr("does not begin with an axis name"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("does not begin with an axis name"));
  EXPECT_THAT(ErrorOf("=3"), HasSubstr("does not begin with an axis name"));
  EXPECT_THAT(ErrorOf("phase=trian"), HasSubstr("did you mean 'train'?"));
}

}  // namespace
}  // namespace tench::cell_filter_test
