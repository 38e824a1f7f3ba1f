// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/net_state.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace tench::net_state_test {
namespace {

Result<bool> Belongs(const std::string& rules, const std::string& state = "phase: TRAIN") {
  caffe::LayerParameter layer;
  caffe::NetState parsed;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(rules, &layer)) << rules;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(state, &parsed)) << state;
  return BelongsTo(layer, parsed);
}

TEST(NetStateTest, ALayerWithoutRulesAlwaysBelongs) { EXPECT_TRUE(*Belongs("")); }

TEST(NetStateTest, OneIncludeRuleMustHold) {
  EXPECT_TRUE(*Belongs("include { phase: TRAIN }"));
  EXPECT_FALSE(*Belongs("include { phase: TEST }"));
  EXPECT_TRUE(*Belongs("include { phase: TEST } include { phase: TRAIN }"));
}

TEST(NetStateTest, NoExcludeRuleMayHold) {
  EXPECT_FALSE(*Belongs("exclude { phase: TRAIN }"));
  EXPECT_TRUE(*Belongs("exclude { phase: TEST }"));
  EXPECT_FALSE(*Belongs("exclude { phase: TEST } exclude { phase: TRAIN }"));
}

TEST(NetStateTest, ARuleHasBoundsOfTheLevel) {
  const std::string level = "phase: TRAIN level: 2";
  EXPECT_TRUE(*Belongs("include { min_level: 2 }", level));
  EXPECT_FALSE(*Belongs("include { min_level: 3 }", level));
  EXPECT_TRUE(*Belongs("include { max_level: 2 }", level));
  EXPECT_FALSE(*Belongs("include { max_level: 1 }", level));
}

TEST(NetStateTest, AllStagesOfARuleMustBeSet) {
  const std::string stages = R"(phase: TRAIN stage: "a" stage: "b")";
  EXPECT_TRUE(*Belongs(R"(include { stage: "a" stage: "b" })", stages));
  EXPECT_FALSE(*Belongs(R"(include { stage: "a" stage: "c" })", stages));
  EXPECT_FALSE(*Belongs(R"(include { not_stage: "b" })", stages));
  EXPECT_TRUE(*Belongs(R"(include { not_stage: "c" })", stages));
}

TEST(NetStateTest, BothKindsOfRulesAreAnError) {
  const auto both = Belongs("include { phase: TRAIN } exclude { phase: TEST }");
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.error().message, testing::HasSubstr("include and exclude"));
}

}  // namespace
}  // namespace tench::net_state_test
