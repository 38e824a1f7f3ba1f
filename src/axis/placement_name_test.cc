// SPDX-License-Identifier: Apache-2.0
#include "axis/placement_name.h"

#include <gtest/gtest.h>

namespace tench::placement_name_test {
namespace {

TEST(PlacementNameTest, EveryNameIsReadBackAsItIsWritten) {
  for (const char* text : {"first", "spread", "compact", "node:0", "node:13"}) {
    const Result<PlacementName> placement = ParsePlacement(text);
    ASSERT_TRUE(placement.ok()) << text;
    EXPECT_EQ(ToString(*placement), text);
  }
  EXPECT_EQ(ParsePlacement("node:07")->node, 7);
}

TEST(PlacementNameTest, RefusesWhatIsNoPlacementAndNamesTheForms) {
  for (const char* text : {"", "Spread", "node", "node:", "node:-1", "node:x", "node:99999"}) {
    const Result<PlacementName> placement = ParsePlacement(text);
    ASSERT_FALSE(placement.ok()) << text;
    EXPECT_NE(placement.error().message.find("first, spread, compact or node:N"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tench::placement_name_test
