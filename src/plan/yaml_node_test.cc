// SPDX-License-Identifier: Apache-2.0
#include "plan/yaml_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::yaml_node_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(std::string_view text) {
  const Result<YamlNode> node = ParseYaml(text, "s.yaml");
  return node.ok() ? "no error" : node.error().message;
}

std::string Repeat(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

TEST(YamlNodeTest, KeepsOrderAndPlaces) {
  const Result<YamlNode> node = ParseYaml("b: 1\na:\n  - 'x y'\n  - {c: }\n", "s.yaml");
  ASSERT_TRUE(node.ok()) << node.error().message;
  ASSERT_EQ(node->kind, YamlNode::Kind::kMap);
  ASSERT_EQ(node->entries.size(), 2u);
  EXPECT_EQ(node->entries[0].key, "b");
  EXPECT_EQ(node->entries[0].value.text, "1");
  EXPECT_EQ(node->entries[0].value.place, (TextPlace{1, 4}));
  const YamlEntry* list = node->Find("a");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->place, (TextPlace{2, 1}));
  ASSERT_EQ(list->value.items.size(), 2u);
  EXPECT_EQ(list->value.items[0].text, "x y");
  EXPECT_EQ(list->value.items[0].place, (TextPlace{3, 5}));
  EXPECT_EQ(list->value.items[1].entries[0].value.kind, YamlNode::Kind::kEmpty);
  EXPECT_EQ(node->Find("c"), nullptr);
}

TEST(YamlNodeTest, TellsAnEmptyTextFromNothing) {
  const Result<YamlNode> node = ParseYaml("a: \"\"\nb:\nc: ~\nd: \"null\"\n", "s.yaml");
  ASSERT_TRUE(node.ok()) << node.error().message;
  EXPECT_EQ(node->Find("a")->value.kind, YamlNode::Kind::kText);
  EXPECT_EQ(node->Find("b")->value.kind, YamlNode::Kind::kEmpty);
  EXPECT_EQ(node->Find("c")->value.kind, YamlNode::Kind::kEmpty);
  EXPECT_EQ(node->Find("d")->value.text, "null");
}

TEST(YamlNodeTest, AnEmptyFileIsAnEmptyNode) {
  for (const std::string_view text : {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n"}) {
    const Result<YamlNode> node = ParseYaml(text, "s.yaml");
    ASSERT_TRUE(node.ok()) << text << ": " << node.error().message;
    EXPECT_EQ(node->kind, YamlNode::Kind::kEmpty) << text;
  }
}

TEST(YamlNodeTest, AcceptsAByteOrderMarkWindowsLineEndsAndUnicode) {
  const Result<YamlNode> node = ParseYaml(
      "\xef\xbb\xbf"
      "a: b\r\nc: \xc3\xa9\xe2\x82\xac\r\n",
      "s.yaml");
  ASSERT_TRUE(node.ok()) << node.error().message;
  EXPECT_EQ(node->entries[0].key, "a");
  EXPECT_EQ(node->entries[0].value.text, "b");
  EXPECT_EQ(node->entries[1].value.text, "\xc3\xa9\xe2\x82\xac");
}

TEST(YamlNodeTest, SyntaxErrorsPointAtTheirPlaceInOneLine) {
  const std::string error = ErrorOf("a: b\nc: [d\ne: f\n");
  EXPECT_THAT(error, StartsWith("s.yaml:"));
  EXPECT_EQ(error.find('\n'), std::string::npos);
  EXPECT_THAT(ErrorOf("a: b\n\tc: d\n"), StartsWith("s.yaml:2:"));
  EXPECT_THAT(ErrorOf("a: 'b\n"), StartsWith("s.yaml:1:"));
  EXPECT_THAT(ErrorOf("a: \"b\n\n  \n"), StartsWith("s.yaml:1:"));
  EXPECT_THAT(ErrorOf("a: b: c\n"), StartsWith("s.yaml:1:"));
  EXPECT_THAT(ErrorOf("a: b\nc: [d,\n   e\n"), StartsWith("s.yaml:3:"));
}

TEST(YamlNodeTest, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(ErrorOf("a: 1\nb: 2\na: 3\n"), "s.yaml:3:1: duplicate key 'a'");
  EXPECT_EQ(ErrorOf("a: {b: 1, 'b': 2}\n"), "s.yaml:1:11: duplicate key 'b'");
}

TEST(YamlNodeTest, RefusesKeysThatAreNoTexts) {
  EXPECT_THAT(ErrorOf("? [a, b]\n: c\n"), HasSubstr("a key must be a text, not a list"));
  EXPECT_THAT(ErrorOf("? {a: b}\n: c\n"), HasSubstr("a key must be a text, not a map"));
  EXPECT_THAT(ErrorOf("~: c\n"), HasSubstr("a key must be a text, not nothing"));
}

TEST(YamlNodeTest, RefusesAnchorsSoThatNoCycleOrBombExists) {
  EXPECT_THAT(ErrorOf("a: &x [*x]\n"), HasSubstr("anchors and aliases are not allowed"));
  EXPECT_THAT(ErrorOf("a: &x b\n"), StartsWith("s.yaml:1:4: YAML anchors"));
  EXPECT_THAT(ErrorOf("a: *x\n"), StartsWith("s.yaml:1:4: "));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    bomb += fmt::format(
        "a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  EXPECT_THAT(ErrorOf(bomb), StartsWith("s.yaml:1:5: YAML anchors"));
}

TEST(YamlNodeTest, RefusesTags) {
  EXPECT_THAT(ErrorOf("a: !!int 3\n"), HasSubstr("tag"));
  EXPECT_THAT(ErrorOf("a: !own {b: c}\n"), HasSubstr("tag"));
}

TEST(YamlNodeTest, RefusesASecondDocument) {
  EXPECT_THAT(ErrorOf("a: 1\n---\nb: 2\n"), HasSubstr("a second YAML document begins here"));
  EXPECT_THAT(ErrorOf("a: 1\n---\nb: 2\n"), StartsWith("s.yaml:2:"));
}

TEST(YamlNodeTest, RefusesWhatIsNotPlainUtf8) {
  EXPECT_EQ(ErrorOf("a: b\nc: \xff\n"), "s.yaml:2:4: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf("\xff\xfe"
                    "a"),
            "s.yaml:1:1: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf("a: \xc0\xaf"), "s.yaml:1:4: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf("a: \xed\xa0\x80"), "s.yaml:1:4: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf("a: \xe2\x82"), "s.yaml:1:4: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf("a: \xf4\x90\x80\x80"), "s.yaml:1:4: the file is not valid UTF-8");
  EXPECT_EQ(ErrorOf(std::string_view("a: \0", 4)),
            "s.yaml:1:4: the control character 0x00 is not allowed");
  EXPECT_EQ(ErrorOf("a: \x1b[31m"), "s.yaml:1:4: the control character 0x1b is not allowed");
}

TEST(YamlNodeTest, RefusesControlCharactersAndLineBreaksThatAreEscaped) {
  EXPECT_THAT(ErrorOf("a: \"\\e[31m\"\n"), HasSubstr("line breaks or control characters"));
  EXPECT_THAT(ErrorOf("a: |\n  b\n  c\n"), HasSubstr("line breaks or control characters"));
}

TEST(YamlNodeTest, RefusesALargeFile) {
  EXPECT_THAT(ErrorOf(std::string(kMaxYamlBytes + 1, ' ')),
              HasSubstr("4194305 bytes; the limit is 4194304"));
  const Result<YamlNode> fits = ParseYaml("a: b\n" + std::string(kMaxYamlBytes - 5, '#'), "s.yaml");
  EXPECT_TRUE(fits.ok()) << fits.error().message;
}

TEST(YamlNodeTest, RefusesTooManyValues) {
  EXPECT_THAT(ErrorOf("a: [" + Repeat("x,", kMaxYamlNodes + 1) + "x]"),
              HasSubstr("more than 100000 values"));
}

TEST(YamlNodeTest, RefusesDeepNestingOfEveryKind) {
  const std::string deep = "nested deeper than 32 levels";
  EXPECT_THAT(ErrorOf(Repeat("[", 1'000'000)), HasSubstr(deep));
  EXPECT_THAT(ErrorOf(Repeat("{a: ", 500'000)), HasSubstr(deep));
  EXPECT_THAT(ErrorOf(Repeat("- ", 1'000'000) + "x"), HasSubstr(deep));
  EXPECT_THAT(ErrorOf(Repeat("? ", 1'000'000) + "x"), HasSubstr(deep));
  EXPECT_THAT(ErrorOf(Repeat("[\n", 1'000'000)), HasSubstr(deep));
  std::string indented;
  for (int i = 0; i < 1'000; ++i) indented += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(ErrorOf(indented), HasSubstr(deep));
}

TEST(YamlNodeTest, SurvivesNestingThatTheEstimateDoesNotSee) {
  // Closing brackets in quotes hide the depth from the estimate.
  EXPECT_THAT(ErrorOf(Repeat("[\"]\",", 50'000)), StartsWith("s.yaml:1:"));
  EXPECT_THAT(ErrorOf(Repeat("{\"}\": ", 50'000)), StartsWith("s.yaml:1:"));
}

TEST(YamlNodeTest, ReadsANormalDepthWithBracketsInTextAndComments) {
  const Result<YamlNode> node = ParseYaml(
      "a: # [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n  b: '[x'\n  c: [[[[y]]]]\n", "s.yaml");
  ASSERT_TRUE(node.ok()) << node.error().message;
}

}  // namespace
}  // namespace tench::yaml_node_test
