// SPDX-License-Identifier: Apache-2.0
#include "report/html/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::published_test {
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

TEST(PublishedTest, FindsTheReleaseOfAWorkersVersion) {
  const std::vector<Release> releases = Releases();
  const auto month = [&](std::string_view worker, std::string_view version) {
    const Release* release = FindRelease(releases, worker, version);
    return release == nullptr ? "unknown" : release->month + " " + release->framework;
  };
  EXPECT_EQ(month("tensorflow1@1.4.0", "1.4.0"), "2017-11 TensorFlow");
  EXPECT_EQ(month("tensorflow1", "1.15.5"), "2021-01 TensorFlow");
  EXPECT_EQ(month("mxnet-python", "1.2.0"), "2018-05 MXNet");
  EXPECT_EQ(month("mxnet-python", "1.2.0-mkl"), "2018-05 MXNet with MKL-DNN");
  EXPECT_EQ(month("cntk", "2.7.post2"), "2019-04 CNTK");
  EXPECT_EQ(month("tensorflow1", "1.40.0"), "unknown");
  EXPECT_EQ(month("native", "0.1.0"), "unknown");
}

TEST(PublishedTest, RefusesAReleaseWithoutAMonth) {
  const std::string header = "worker,version,framework,released\n";
  EXPECT_EQ(ParseReleases(header + "a,1.0,A,2017\n").error().message,
            "'2017' is no month such as 2017-11");
  EXPECT_EQ(ParseReleases(header + "a,1.0,A,2017-13\n").error().message,
            "'2017-13' is no month such as 2017-11");
}

}  // namespace
}  // namespace tench::published_test
