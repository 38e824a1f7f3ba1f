// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::json_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Json Parse(std::string_view text) { return *ParseJson(text, "test"); }

TEST(JsonTest, SyntaxErrorsNameOriginLineAndColumn) {
  EXPECT_THAT(ParseJson("{\n  \"a\": 1,\n  oops\n}", "suite.json").error().message,
              StartsWith("suite.json:3:3: "));
  EXPECT_THAT(ParseJson("", "job").error().message, StartsWith("job:1:1: "));
  EXPECT_THAT(ParseJson("{} {}", "job").error().message, StartsWith("job:1:4: "));
}

TEST(JsonTest, ErrorsAreOnePrintableLine) {
  for (const std::string bad :
       {"\"\xff\xfe\"", "[1,\n\x01]", "\"a\nb\"", "{\"\\ud800\": 1}", "nul"}) {
    const auto parsed = ParseJson(bad, "x");
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.error().message.find_first_of("\n\x01\xff"), std::string::npos)
        << parsed.error().message;
  }
}

TEST(JsonTest, NumbersThatFitNoDoubleAreErrors) { EXPECT_FALSE(ParseJson("[1e999]", "x").ok()); }

TEST(JsonTest, DeepNestingIsRefusedBeforeItIsParsed) {
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']'), "x").ok());
  EXPECT_THAT(ParseJson(std::string(65, '[') + std::string(65, ']'), "x").error().message,
              HasSubstr("x:1:65: nested deeper"));
  EXPECT_FALSE(ParseJson(std::string(10'000'000, '{'), "x").ok());
  EXPECT_TRUE(
      ParseJson("\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"", "x").ok());
}

TEST(JsonTest, RepeatedKeysAreRefusedWithinOneObjectOnly) {
  EXPECT_THAT(ParseJson(R"({"a":1,"b":{"a":1},"a":2})", "x").error().message,
              HasSubstr("'a' occurs twice"));
  EXPECT_TRUE(ParseJson(R"([{"a":{"a":1}},{"a":2}])", "x").ok());
  EXPECT_FALSE(ParseJson(R"({"a":{"b":1,"b":2}})", "x").ok());
}

TEST(JsonTest, AnObjectWithTooManyKeysIsRefusedQuickly) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("\"k{}\":1,", i);
  text += "\"end\":1}";
  EXPECT_THAT(ParseJson(text, "x").error().message, HasSubstr("more than 10000 keys"));
}

TEST(JsonTest, RealsThatJsonLacksTravelAsStrings) {
  EXPECT_EQ(PrintJson(RealToJson(std::nan(""))), "\"nan\"");
  EXPECT_EQ(PrintJson(RealToJson(-std::numeric_limits<double>::infinity())), "\"-inf\"");
  EXPECT_EQ(*RealFromJson(RealToJson(0.1)), 0.1);
  EXPECT_TRUE(std::isnan(*RealFromJson(Parse("\"nan\""))));
  EXPECT_EQ(*RealFromJson(Parse("\"inf\"")), std::numeric_limits<double>::infinity());
  EXPECT_FALSE(RealFromJson(Parse("\"1.5\"")).ok());
  EXPECT_FALSE(RealFromJson(Parse("null")).ok());
}

TEST(JsonTest, PrintingReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(PrintJson(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(FieldsTest, ReadsEveryTypeAndFinishesClean) {
  const Json json =
      Parse(R"({"s":"x","i":-3,"u":18446744073709551615,"r":1,"b":true,"a":[1],"o":{"k":"v"},
                              "strings":["p","q"],"integers":[1,2],"reals":[0.5,"nan"]})");
  Fields fields(json, "job");
  EXPECT_EQ(fields.String("s"), "x");
  EXPECT_EQ(fields.Integer("i", -5, 5), -3);
  EXPECT_EQ(fields.Unsigned("u"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(fields.Real("r"), 1.0);
  EXPECT_TRUE(fields.Bool("b"));
  EXPECT_EQ(fields.Array("a").size(), 1u);
  EXPECT_EQ(fields.StringMap("o").at("k"), "v");
  EXPECT_THAT(fields.Strings("strings"), ElementsAre("p", "q"));
  EXPECT_THAT(fields.Integers("integers", 0, 9), ElementsAre(1, 2));
  EXPECT_EQ(fields.Reals("reals").size(), 2u);
  EXPECT_TRUE(fields.Finish().ok());
}

TEST(FieldsTest, FallbacksServeAbsentKeysOnly) {
  const Json json = Parse(R"({"i":"7"})");
  Fields fields(json, "");
  EXPECT_EQ(fields.String("s", "d"), "d");
  EXPECT_EQ(fields.Real("r", 2.5), 2.5);
  EXPECT_TRUE(fields.Bool("b", true));
  EXPECT_THAT(fields.Strings("l", {"z"}), ElementsAre("z"));
  EXPECT_TRUE(fields.Finish().ok() == false) << "'i' was not asked for";
  fields.Integer("i", 0, 9, 3);
  EXPECT_THAT(fields.Finish().error().message,
              HasSubstr("i: must be an integer from 0 to 9, not \"7\""));
}

struct BadField {
  std::string json, message;
  void (*read)(Fields&);
};

class FieldsErrorTest : public testing::TestWithParam<BadField> {};

TEST_P(FieldsErrorTest, NamesThePlaceAndTheFault) {
  const Json json = Parse(GetParam().json);
  Fields fields(json, "job");
  GetParam().read(fields);
  EXPECT_EQ(fields.Finish().error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, FieldsErrorTest,
    testing::Values(
        BadField{"{}", "job.batch: is missing", [](Fields& f) { f.Integer("batch", 1, 9); }},
        BadField{R"({"batch":0})", "job.batch: must be an integer from 1 to 9, not 0",
                 [](Fields& f) { f.Integer("batch", 1, 9); }},
        BadField{R"({"batch":1.0})", "job.batch: must be an integer from 1 to 9, not 1.0",
                 [](Fields& f) { f.Integer("batch", 1, 9); }},
        BadField{R"({"batch":18446744073709551615})",
                 "job.batch: must be an integer from 1 to 9, not 18446744073709551615",
                 [](Fields& f) { f.Integer("batch", 1, 9); }},
        BadField{R"({"seed":-1})", "job.seed: must be an unsigned 64-bit integer, not -1",
                 [](Fields& f) { f.Unsigned("seed"); }},
        BadField{R"({"lr":[]})",
                 "job.lr: must be a number, \"nan\", \"inf\" or \"-inf\", not an array",
                 [](Fields& f) { f.Real("lr"); }},
        BadField{R"({"on":1})", "job.on: must be true or false, not 1",
                 [](Fields& f) { f.Bool("on"); }},
        BadField{R"({"s":null})", "job.s: must be a string, not null",
                 [](Fields& f) { f.String("s"); }},
        BadField{R"({"l":["a",2]})", "job.l[1]: must be a string, not 2",
                 [](Fields& f) { f.Strings("l"); }},
        BadField{R"({"l":[1,-2]})", "job.l[1]: must be an integer from 0 to 9, not -2",
                 [](Fields& f) { f.Integers("l", 0, 9); }},
        BadField{R"({"m":{"k":1}})", "job.m.k: must be a string, not 1",
                 [](Fields& f) { f.StringMap("m"); }},
        BadField{R"({"bach":1})", "job: unknown key 'bach'; did you mean 'batch'?",
                 [](Fields& f) { f.Integer("batch", 1, 9, 1); }},
        BadField{"[1]", "job: must be an object, not an array",
                 [](Fields& f) { f.Integer("batch", 1, 9); }}));

TEST(FieldsTest, TheFirstFailureIsTheOneTold) {
  const Json json = Parse(R"({"a":1,"b":2})");
  Fields fields(json, "");
  fields.String("a");
  EXPECT_TRUE(fields.failed());
  fields.String("b");
  fields.Fail("c", "also bad");
  EXPECT_EQ(fields.Finish().error().message, "a: must be a string, not 1");
}

TEST(FieldsTest, UnknownKeysMayBeAllowed) {
  const Json json = Parse(R"({"news":1})");
  Fields fields(json, "hello");
  fields.AllowUnknown();
  EXPECT_TRUE(fields.Finish().ok());
}

}  // namespace
}  // namespace tench::json_test
