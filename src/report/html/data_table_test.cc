// SPDX-License-Identifier: Apache-2.0
#include "report/html/data_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tench::data_table_test {
namespace {

TEST(DataTableTest, WritesRepeatedTextsOnceAndConstantColumnsOnce) {
  DataTable table({"series", "batch", "phase"});
  table.Add({"native", 1, "train"});
  table.Add({"torch", 2, "train"});
  table.Add({"native", 4, "train"});
  EXPECT_EQ(
      PrintJson(table.ToColumns()),
      R"({"n":3,"columns":{"series":{"texts":["native","torch"],"at":[0,1,0]},"batch":[1,2,4],)"
      R"("phase":{"all":"train"}}})");
  EXPECT_EQ(PrintJson(table.ToRows()[2]), R"({"series":"native","batch":4,"phase":"train"})");
}

TEST(DataTableTest, AMissingTextIsNotAnEmptyOne) {
  DataTable table({"mark"});
  table.Add({"negative"});
  table.Add({nullptr});
  table.Add({""});
  EXPECT_EQ(PrintJson(table.ToColumns()),
            R"({"n":3,"columns":{"mark":{"texts":["negative",null,""],"at":[0,1,2]}}})");
}

TEST(DataTableTest, NumbersAreShortAndWhatIsNoneIsNull) {
  EXPECT_EQ(PrintJson(ChartNumber(1.0 / 3)), "0.333333");
  EXPECT_EQ(PrintJson(ChartNumber(64.0)), "64");
  EXPECT_EQ(PrintJson(ChartNumber(std::nullopt)), "null");
  EXPECT_EQ(PrintJson(ChartNumber(std::nan(""))), "null");
}

}  // namespace
}  // namespace tench::data_table_test
