// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/filler.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tench::filler_test {
namespace {

using testing::HasSubstr;

Result<Fill> Read(const std::string& text, const Shape& shape = {8, 2, 3, 3}) {
  caffe::FillerParameter filler;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &filler)) << text;
  return ReadFiller(filler, shape);
}

TEST(FillerTest, FillersWithoutAFanKeepTheirNumbers) {
  EXPECT_EQ(*Read("value: 0.1"), (Fill{FillKind::kConstant, 0.1, 0}));
  EXPECT_EQ(*Read(R"(type: "uniform" min: -0.2 max: 0.3)"), (Fill{FillKind::kUniform, -0.2, 0.3}));
  EXPECT_EQ(*Read(R"(type: "gaussian" mean: 1 std: 0.01)"), (Fill{FillKind::kGaussian, 1, 0.01}));
}

TEST(FillerTest, SparseWeightsBecomeDenseOnesOfTheSameVariance) {
  EXPECT_EQ(*Read(R"(type: "gaussian" std: 3 sparse: 2)"), (Fill{FillKind::kGaussian, 0, 1.5}));
  EXPECT_EQ(*Read(R"(type: "gaussian" std: 3 sparse: 9)"), (Fill{FillKind::kGaussian, 0, 3}));
}

TEST(FillerTest, FillersThatTenchHasTooKeepTheirName) {
  EXPECT_EQ(Read(R"(type: "xavier")")->kind, FillKind::kXavier);
  EXPECT_EQ(Read(R"(type: "msra")")->kind, FillKind::kMsra);
  EXPECT_EQ(Read(R"(type: "msra" variance_norm: FAN_OUT)")->kind, FillKind::kMsraFanOut);
}

// Fan-in is 2·3·3 = 18 and fan-out 8·3·3 = 72.
TEST(FillerTest, OtherFansAreComputed) {
  EXPECT_EQ(*Read(R"(type: "xavier" variance_norm: FAN_OUT)"),
            (Fill{FillKind::kUniform, -std::sqrt(3.0 / 72), std::sqrt(3.0 / 72)}));
  EXPECT_EQ(*Read(R"(type: "xavier" variance_norm: AVERAGE)"),
            (Fill{FillKind::kUniform, -std::sqrt(3.0 / 45), std::sqrt(3.0 / 45)}));
  EXPECT_EQ(*Read(R"(type: "msra" variance_norm: AVERAGE)"),
            (Fill{FillKind::kGaussian, 0, std::sqrt(2.0 / 45)}));
}

TEST(FillerTest, UnsupportedFillersAreNamed) {
  EXPECT_THAT(Read(R"(type: "xavier" variance_norm: AVERAGE)", {}).error().message,
              HasSubstr("'xavier' needs weights"));
  EXPECT_THAT(Read(R"(type: "bilinear")").error().message, HasSubstr("'bilinear'"));
  EXPECT_THAT(Read(R"(type: "xavir")").error().message, HasSubstr("Caffe has no filler 'xavir'"));
}

}  // namespace
}  // namespace tench::filler_test
