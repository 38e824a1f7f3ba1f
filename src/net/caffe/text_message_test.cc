// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/text_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "net/caffe/schema.pb.h"

namespace tench::text_message_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(TextMessageTest, FieldsKeepTheirLines) {
  caffe::NetParameter net;
  const auto places =
      ParseMessageText("name: \"n\"\nlayer { name: \"a\" }\n\nlayer { name: \"b\" }", "f", net);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ(net.layer_size(), 2);
  EXPECT_EQ(LineOf(places->tree.get(), net, "name"), 1);
  EXPECT_EQ(LineOf(places->tree.get(), net, "layer", 0), 2);
  EXPECT_EQ(LineOf(places->tree.get(), net, "layer", 1), 4);
  EXPECT_EQ(LineOf(places->tree.get(), net, "input", 0), 0);
  EXPECT_EQ(LineOf(nullptr, net, "name"), 0);
}

TEST(TextMessageTest, UnknownFieldsAreCollectedNotRefused) {
  caffe::NetParameter net;
  const auto places = ParseMessageText("name: \"n\"\n  colour: 3", "f", net);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ(net.name(), "n");
  ASSERT_EQ(places->unknown.size(), 1u);
  EXPECT_EQ(places->unknown[0].line, 2);
  EXPECT_EQ(places->unknown[0].column, 9);
  EXPECT_THAT(places->unknown[0].message, HasSubstr("colour"));
}

TEST(TextMessageTest, ASyntaxErrorHasItsPlaceAndKeepsWhatWasRead) {
  caffe::NetParameter net;
  const auto places = ParseMessageText("name: \"n\"\nlayer { name: 5 }", "folder/f", net);
  ASSERT_FALSE(places.ok());
  EXPECT_THAT(places.error().message, StartsWith("folder/f:2:"));
  EXPECT_EQ(net.name(), "n");
}

TEST(TextMessageTest, BracesInStringsAndCommentsDoNotNest) {
  caffe::NetParameter net;
  const std::string braces(100, '{');
  EXPECT_TRUE(ParseMessageText("# " + braces + "\nname: \"" + braces + "\"", "f", net).ok());
  EXPECT_EQ(net.name(), braces);
  const auto deep = ParseMessageText("\n" + braces, "f", net);
  ASSERT_FALSE(deep.ok());
  EXPECT_THAT(deep.error().message, HasSubstr("f:2: more than 32 levels"));
}

TEST(TextMessageTest, AFloatBecomesItsShortestDecimal) {
  EXPECT_EQ(DecimalOf(0.01f), 0.01);
  EXPECT_EQ(DecimalOf(-1e-8f), -1e-8);
  EXPECT_EQ(DecimalOf(3.0f), 3.0);
  EXPECT_TRUE(std::isnan(DecimalOf(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(DecimalOf(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tench::text_message_test
