// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <gtest/gtest.h>

namespace tench::text_table_test {
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

TEST(TextTableTest, BreaksTheLastColumnIntoLines) {
  TextTable table({{"n", Align::kRight}, {"reason"}}, false);
  table.AddRow({"1", "one two three"});
  table.AddRow({"2", "four"});
  EXPECT_EQ(table.RenderWrapped(11, 1), " 1  one two\n    three\n 2  four\n");
  EXPECT_EQ(table.RenderWrapped(0), table.Render());
}

TEST(TextTableTest, CutsTheWidestLeftColumnToTheWidth) {
  TextTable table({{"n", Align::kRight}, {"reason"}}, false);
  table.AddRow({"1", "a very long reason indeed"});
  EXPECT_EQ(table.Render(15), "1  a very long…\n");
}

TEST(TextTableTest, KeepsTheWholeTextWhenItFits) {
  TextTable table({{"a"}, {"b"}}, false);
  table.AddRow({"x", "y"});
  EXPECT_EQ(table.Render(80, 2), "  x  y\n");
}

TEST(TextTableTest, FitLeavesOutTheMostOptionalColumnsAndNamesThem) {
  TextTable table({{"a"}, {"b", Align::kLeft, 1}, {"c", Align::kLeft, 2}, {"d", Align::kLeft, 2}});
  table.AddRow({"aaaa", "bbbb", "cccc", "dddd"});
  EXPECT_TRUE(table.Fit(0).empty());
  EXPECT_TRUE(table.Fit(22).empty());
  EXPECT_EQ(table.Fit(21), std::vector<std::string>{"d"});
  EXPECT_EQ(table.Fit(6, 2), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(table.Render(), "a\n────\naaaa\n");
  EXPECT_TRUE(table.Fit(1).empty()) << "the last column is not optional";
}

TEST(TextTableTest, MarkdownEscapesBars) {
  TextTable table({{"a|b"}, {"n", Align::kRight}});
  table.AddRow({"x", "1"});
  EXPECT_EQ(table.RenderMarkdown(), "| a\\|b | n |\n| --- | ---: |\n| x | 1 |\n");
}

TEST(TextTableTest, WrapsAtBlanksWithAHangingIndent) {
  EXPECT_EQ(WrapText("one two three", 0, 2), "one two three");
  EXPECT_EQ(WrapText("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(WrapText("averylongword x", 5, 1), "averylongword\n x");
  EXPECT_EQ(WrapText("  kept  blanks", 40, 4), "  kept  blanks");
}

}  // namespace
}  // namespace tench::text_table_test
