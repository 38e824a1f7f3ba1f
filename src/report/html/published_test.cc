// SPDX-License-Identifier: Apache-2.0
#include "report/html/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench {
namespace {

TEST(PublishedTest, TheBuiltInFiguresAreThoseOfTheStudies) {
  const std::vector<PublishedRate> rates = PublishedRates();
  EXPECT_EQ(rates.size(), 195u);
  EXPECT_THAT(rates, testing::Contains(
                         testing::AllOf(testing::Field(&PublishedRate::framework, "caffe"),
                                        testing::Field(&PublishedRate::network, "lenet"),
                                        testing::Field(&PublishedRate::hardware, "gpu:p100"),
                                        testing::Field(&PublishedRate::images_per_s, 42588))));
  const std::vector<PublishedGemm> gemms = PublishedGemms();
  ASSERT_EQ(gemms.size(), 16u);
  EXPECT_EQ(gemms[0].calls, 75264);
}

TEST(PublishedTest, RefusesAFileOfAnotherForm) {
  EXPECT_EQ(ParsePublishedRates("a,b\n").error().message,
            "line 1: the header is not 'dataset,network,framework,hardware,metric,value'");
  EXPECT_EQ(ParsePublishedGemms("method,framework,kind,seconds,calls\n1,2\n").error().message,
            "line 2: 2 fields, expected 5");
}

TEST(PublishedTest, KnowsTheBatchSizesOfTheReport) {
  EXPECT_EQ(PublishedBatch("mnist", "lenet"), 64);
  EXPECT_EQ(PublishedBatch("cifar10", "vgg16"), 128);
  EXPECT_EQ(PublishedBatch("imagenet", "alexnet"), 128);
  EXPECT_EQ(PublishedBatch("imagenet", "vgg16"), 8);
  EXPECT_EQ(HardwareTitle("gpu:2xp100"), "GPU, 2 × P100");
}

}  // namespace
}  // namespace tench
