// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::text_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kNetworks = {"lenet",    "alexnet",  "googlenet", "vgg16",
                                            "resnet18", "resnet50", "lstm"};

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(TextTest, TrimAndJoin) {
  EXPECT_EQ(Trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(Trim("  "), "");
  const std::vector<std::string> parts = {"a", "b", "c"};
  EXPECT_EQ(Join(parts, ", "), "a, b, c");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(TextTest, IntegersAreTheWholeTextOrNothing) {
  EXPECT_EQ(*ParseInteger("-12"), -12);
  EXPECT_EQ(*ParseInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const std::string bad : {"", "12x", " 3", "3 ", "1.0", "0x10", "+3", "--1"})
    EXPECT_FALSE(ParseInteger(bad).ok()) << bad;
  EXPECT_THAT(ParseInteger("9223372036854775808").error().message, HasSubstr("does not fit"));
}

TEST(TextTest, RealsAreTheWholeTextOrNothing) {
  EXPECT_EQ(*ParseReal("0.1"), 0.1);
  EXPECT_EQ(*ParseReal("-2.5e-3"), -2.5e-3);
  EXPECT_EQ(*ParseReal(".5"), 0.5);
  EXPECT_TRUE(std::isnan(*ParseReal("nan")));
  EXPECT_EQ(*ParseReal("-inf"), -std::numeric_limits<double>::infinity());
  for (const std::string bad :
       {"", "x", "1,5", " 1", "1 ", "infinity", "NAN", "nan(1)", "1e999", "-", "0x1p3"})
    EXPECT_FALSE(ParseReal(bad).ok()) << bad;
}

TEST(TextTest, BytesKnowTheirUnits) {
  EXPECT_EQ(*ParseBytes("512"), 512);
  EXPECT_EQ(*ParseBytes("64k"), 65536);
  EXPECT_EQ(*ParseBytes("1.5GiB"), 1610612736);
  EXPECT_EQ(*ParseBytes("2 GB"), int64_t{2} << 30);
  EXPECT_EQ(*ParseBytes("1T"), int64_t{1} << 40);
  for (const std::string bad : {"", "k", "-1", "5X", "1e3", "1..5", "nan", "2 GB ", "99999999T"})
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
}

TEST(TextTest, DurationsAreSecondsUnlessTheySayOtherwise) {
  EXPECT_EQ(*ParseDuration("90"), 90'000'000'000);
  EXPECT_EQ(*ParseDuration("90s"), 90'000'000'000);
  EXPECT_EQ(*ParseDuration("1.5m"), 90'000'000'000);
  EXPECT_EQ(*ParseDuration("2h"), 7'200'000'000'000);
  EXPECT_EQ(*ParseDuration("250ms"), 250'000'000);
  for (const std::string bad : {"", "s", "-5", "5d", "1e9", "inf", "9999999999999h"})
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
}

TEST(TextTest, NearestFindsWhatWasMeant) {
  EXPECT_EQ(Nearest("lenent", kNetworks), "lenet");
  EXPECT_EQ(Nearest("googelnet", kNetworks), "googlenet");
  EXPECT_EQ(Nearest("ResNet50", kNetworks), "resnet50");
  EXPECT_EQ(Nearest("resn", kNetworks), "resnet18");
  EXPECT_EQ(Nearest("zzz", kNetworks), "");
  EXPECT_EQ(Nearest("", kNetworks), "");
  EXPECT_EQ(Nearest(std::string(100000, 'a'), kNetworks), "");
  EXPECT_EQ(Hint("alexnte", kNetworks), "; did you mean 'alexnet'?");
  EXPECT_EQ(Hint("qqqqqq", kNetworks), "");
}

TEST(TextTest, SizesReadWell) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1610612736), "1.5 GiB");
  EXPECT_EQ(HumanBytes(200 << 20), "200 MiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
}

TEST(TextTest, TimesReadWell) {
  EXPECT_EQ(HumanNs(850), "850 ns");
  EXPECT_EQ(HumanNs(3.21e6), "3.21 ms");
  EXPECT_EQ(HumanNs(999.7e3), "1 ms");
  EXPECT_EQ(HumanNs(1.2e9), "1.2 s");
  EXPECT_EQ(HumanNs(302e9), "5 min 02 s");
  EXPECT_EQ(HumanNs(59.99e9), "1 min 00 s");
  EXPECT_EQ(HumanNs(3599.9e9), "1 h 00 min");
  EXPECT_EQ(HumanNs(2 * 3600e9 + 300e9), "2 h 05 min");
  EXPECT_EQ(HumanNs(std::nan("")), "nan");
}

TEST(TextTest, CountsReadWell) {
  EXPECT_EQ(HumanCount(7), "7");
  EXPECT_EQ(HumanCount(60965224), "61.0 M");
  EXPECT_EQ(HumanCount(431080), "431.1 k");
  EXPECT_EQ(HumanCount(999.96e3), "1.0 M");
  EXPECT_EQ(HumanCount(1.5e18), "1500.0 P");
}

TEST(TextTest, HashIsFnv1a) {
  EXPECT_EQ(Hex64(Hash64("")), "cbf29ce484222325");
  EXPECT_EQ(Hex64(Hash64("a")), "af63dc4c8601ec8c");
  EXPECT_EQ(Hex64(Hash64("foobar")), "85944171f73967e8");
  EXPECT_EQ(Hash64("bar", Hash64("foo")), Hash64("foobar"));
  EXPECT_EQ(Hex64(1), "0000000000000001");
}

TEST(TextTest, ShellWordsAreQuotedOnlyWhenTheyMustBe) {
  EXPECT_EQ(ShellQuote("cuda:0"), "cuda:0");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellQuote(""), "''");
}

TEST(TextTest, PrintableHidesBytesAndStopsInTime) {
  EXPECT_EQ(Printable("ab\n\xff"), "ab\\x0a\\xff");
  EXPECT_EQ(Printable("abcdef", 3), "abc…");
  EXPECT_EQ(Printable("ab\n", 5), "ab…");
  EXPECT_EQ(Printable("abc", 3), "abc");
}

}  // namespace
}  // namespace tench::text_test
