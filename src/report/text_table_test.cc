// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <gtest/gtest.h>

namespace tench {
namespace {

TEST(TextTableTest, AlignsByCharactersAndLeavesNoTrailingBlanks) {
  TextTable table({{"name"}, {"value", Align::kRight}, {"note"}});
  table.AddRow({"µs", "1", "x"});
  table.AddRow({"longer", "1000", ""});
  EXPECT_EQ(table.Render(),
            "name    value  note\n"
            "──────  ─────  ────\n"
            "µs          1  x\n"
            "longer   1000\n");
}

TEST(TextTableTest, CutsTheLastLeftColumnToTheWidth) {
  TextTable table({{"n", Align::kRight}, {"reason"}}, false);
  table.AddRow({"1", "a very long reason indeed"});
  EXPECT_EQ(table.Render(15), "1  a very long…\n");
}

TEST(TextTableTest, KeepsTheWholeTextWhenItFits) {
  TextTable table({{"a"}, {"b"}}, false);
  table.AddRow({"x", "y"});
  EXPECT_EQ(table.Render(80, 2), "  x  y\n");
}

}  // namespace
}  // namespace tench
