// SPDX-License-Identifier: Apache-2.0
#include "store/series_blob.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::series_blob_test {
namespace {

TEST(SeriesBlobTest, WritesIntegersLittleEndian) {
  const std::vector<int64_t> values = {1, -1, 0x0102030405060708};
  EXPECT_EQ(
      EncodeSeries(values),
      std::string(
          "\x01\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x08\x07\x06\x05\x04\x03\x02\x01",
          24));
}

TEST(SeriesBlobTest, GivesBackWhatItWrote) {
  const std::vector<int64_t> integers = {0, std::numeric_limits<int64_t>::min(),
                                         std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(*DecodeIntegers(EncodeSeries(integers)), integers);
  const std::vector<double> reals = {0.1, -0.0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(*DecodeReals(EncodeSeries(reals)), reals);
  EXPECT_TRUE(DecodeReals("")->empty());
}

TEST(SeriesBlobTest, KeepsNaN) {
  const std::vector<double> reals = {std::nan("")};
  EXPECT_TRUE(std::isnan((*DecodeReals(EncodeSeries(reals)))[0]));
}

TEST(SeriesBlobTest, RefusesACutOffSeries) {
  EXPECT_FALSE(DecodeIntegers("1234567").ok());
  EXPECT_FALSE(DecodeReals("123456789").ok());
}

}  // namespace
}  // namespace tench::series_blob_test
