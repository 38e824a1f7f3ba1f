// SPDX-License-Identifier: Apache-2.0
#include "base/plural.h"

#include <gtest/gtest.h>

namespace tench::plural_test {
namespace {

TEST(PluralTest, OnlyOneIsSingular) {
  EXPECT_EQ(Plural(0, "run"), "0 runs");
  EXPECT_EQ(Plural(1, "run"), "1 run");
  EXPECT_EQ(Plural(2, "run"), "2 runs");
}

TEST(PluralTest, AnIrregularPluralIsGiven) {
  EXPECT_EQ(Plural(1, "study", "studies"), "1 study");
  EXPECT_EQ(Plural(3, "study", "studies"), "3 studies");
}

}  // namespace
}  // namespace tench::plural_test
